import { scriptedModel } from "@holdfast/testing";
import {
	AssistantMessage,
	createProvider,
	isAssistantMessage,
	isToolResultMessage,
	type Message,
	ToolResultMessage,
	UserMessage,
} from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { drive } from "../engine/drive.ts";
import { ephemeralRecorder } from "../engine/ephemeral.ts";
import { Run } from "../engine/run.ts";
import type { AgentEvent } from "../facts/agent-event.ts";
import type { RunEvent } from "../facts/events.ts";
import { initialSession } from "../facts/session-state.ts";
import { AgentState } from "../state/agent-state.ts";
import { Agent } from "./agent.ts";
import { toModelMessages } from "./model-messages.ts";
import { resolveAgent } from "./options.ts";
import { isRuntimeLlm, type RuntimeLlm, runtimeLlmModel } from "./runtime-llm.ts";

/** Runs one turn on a model function. */
async function turn(call: RuntimeLlm, before: readonly Message[] = []) {
	const model = runtimeLlmModel(call);
	const run = new Run({
		agent: { ...resolveAgent("agent", {}), model: () => model },
		runId: "run",
		state: initialSession(AgentState.initial().withMessages(before)),
		recorder: ephemeralRecorder(),
	});
	const events: RunEvent[] = [];
	run.watch({ notify: (event) => events.push(event) });
	run.commit([
		{ kind: "run.started", runKind: "user-turn", agentId: "agent", fingerprint: "" },
		{ kind: "input", inputId: "i", placement: "turn", shape: "text", message: new UserMessage("go") },
	]);
	const outcome = await drive(run);
	return { outcome, events, messages: run.state.agent.messages };
}

const call = (toolCallId: string, input: object = {}) => ({
	type: "tool-call",
	toolCallId,
	toolName: "look",
	input,
});
const result = (toolCallId: string, output: unknown) => ({
	type: "tool-result",
	toolCallId,
	toolName: "look",
	output,
});

describe("a function as a model", () => {
	test("gets the history with the input, and its return value is the output of the turn [SES-003]", async () => {
		const histories: unknown[] = [];
		const { messages, outcome } = await turn(
			async ({ history, signal }) => {
				expect(signal.aborted).toBe(false);
				histories.push(structuredClone(history));
				return [
					{
						role: "assistant",
						content: [
							{ type: "reasoning", text: "hm" },
							{ type: "text", text: `Seen ${history.length} messages.` },
						],
					},
				];
			},
			[new UserMessage("hello"), new AssistantMessage("hi")],
		);
		expect(outcome).toMatchObject({ kind: "ended", outcome: "completed" });
		expect(histories).toEqual([
			[
				{ role: "user", content: "hello" },
				{ role: "assistant", content: "hi" },
				{ role: "user", content: "go" },
			],
		]);
		expect(messages.at(-1)).toMatchObject({
			type: "assistant",
			content: [
				{ type: "reasoning", text: "hm" },
				{ type: "text", text: "Seen 3 messages." },
			],
		});
	});

	test("may change the history it gets: the stored one stays the same [SES-003]", async () => {
		const bytes = new Uint8Array([1, 2]);
		const before = [
			new UserMessage([
				{ type: "text", text: "a" },
				{ type: "image", source: { type: "bytes", data: bytes }, mimeType: "image/png" },
			]),
			new AssistantMessage("", [{ toolCallId: "c", toolName: "look", arguments: { deep: { at: 1 } } }]),
			new ToolResultMessage([{ toolCallId: "c", result: { found: [1] } }]),
		];
		const stored = JSON.stringify(before);
		const { messages } = await turn(({ history }) => {
			const parts = history.flatMap(({ content }) => content as unknown as Record<string, unknown>[]);
			for (const part of parts) {
				if (part.type === "file") (part.data as Uint8Array).fill(9);
				if (part.type === "tool-call") Object.assign((part.input as { deep: object }).deep, { at: 2 });
				if (part.type === "tool-result") (part.output as { value: { found: unknown[] } }).value.found.push(2);
			}
			history.length = 0;
			return [{ role: "assistant", content: "gone" }];
		}, before);
		expect(JSON.stringify(messages.slice(0, 3))).toBe(stored);
		expect(messages).toHaveLength(5);
	});

	test("that keeps its return value cannot change it later [SES-003]", async () => {
		const input = { query: "a" };
		const output = { hits: ["a"] };
		let asked = 0;
		const { messages } = await turn(() => {
			if (asked++ > 0) {
				input.query = "changed";
				output.hits.push("changed");
				return [{ role: "assistant", content: "done" }];
			}
			return [
				{ role: "assistant", content: [call("c", input)] },
				{ role: "tool", content: [result("c", { type: "json", value: output })] },
			];
		});
		expect(JSON.stringify(messages)).not.toContain("changed");
	});

	test("is called again after an output that ends with results: one step per call of the function", async () => {
		const script = [
			[
				{ role: "assistant", content: [{ type: "text", text: "I look." }, call("c1"), call("c2")] },
				{
					role: "tool",
					content: [result("c1", "plain"), result("c2", { type: "error-text", value: "broken" })],
				},
			],
			[{ role: "assistant", content: "done" }],
		] as const;
		let asked = 0;
		const { messages, events } = await turn(() => script[asked++] ?? []);
		expect(messages.map(({ type }) => type)).toEqual(["user", "assistant", "tool_result", "assistant"]);
		const results = messages[2];
		expect(isToolResultMessage(results) && results.results).toEqual([
			{ toolCallId: "c1", result: "plain" },
			{ toolCallId: "c2", result: "broken", isError: true },
		]);
		expect(events.flatMap(({ type }) => (/step|tool/.test(type) ? [type] : []))).toEqual([
			"step_start",
			"tool_end",
			"tool_end",
			"step_end",
			"step_start",
			"step_end",
		]);
	});

	test("may return several rounds at once", async () => {
		const { messages } = await turn(() => [
			{ role: "assistant", content: [call("c1")] },
			{ role: "tool", content: [result("c1", 1)] },
			{ role: "assistant", content: [call("c1")] },
			{ role: "tool", content: [result("c1", 2)] },
			{ role: "assistant", content: "done" },
		]);
		expect(messages.map(({ text }) => text)).toEqual(["go", "", "1", "", "2", "done"]);
	});

	test("that returns no result for a call gets a recorded result that explains it", async () => {
		let asked = 0;
		const { messages } = await turn(() => [
			{ role: "assistant", content: asked++ === 0 ? [call("c1")] : "done" },
		]);
		expect(messages[2]?.text).toBe("The model function returned no result for this call.");
		expect(messages.filter(isAssistantMessage)).toHaveLength(2);
	});

	test.each<[string, unknown]>([
		["no list", "text"],
		["nothing", undefined],
		["an empty list", []],
		[
			"an unknown role",
			[
				{ role: "assistant", content: "kept?" },
				{ role: "developer", content: "x" },
			],
		],
		["a user's message", [{ role: "user", content: "x" }]],
		["no message", [null]],
		["content that is a number", [{ role: "assistant", content: 7 }]],
		["an unknown part", [{ role: "assistant", content: [{ type: "sound" }] }]],
		["a call without an id", [{ role: "assistant", content: [call("")] }]],
		["two calls of one id", [{ role: "assistant", content: [call("c"), call("c")] }]],
		[
			"more calls than an answer may have",
			[{ role: "assistant", content: Array.from({ length: 1_001 }, (_, index) => call(`c${index}`)) }],
		],
		["an input that is no object", [{ role: "assistant", content: [call("c", 7 as never)] }]],
		["a result nobody called for", [{ role: "tool", content: [result("c", 1)] }]],
		["a value that is no JSON", [{ role: "assistant", content: [call("c", circular())] }]],
	])(
		"that returns %s ends the run with an error, and nothing of it is stored [SES-005]",
		async (_, output) => {
			const { outcome, messages, events } = await turn(() => output as never);
			expect(outcome).toMatchObject({ outcome: "error", error: { code: "invalid_model_output" } });
			expect(messages.map(({ text }) => text)).toEqual(["go"]);
			expect(events.at(-1)).toMatchObject({ type: "run_end", error: { code: "invalid_model_output" } });
			expect(JSON.stringify(events)).not.toContain("kept?");
			const session = new Agent({ model: () => output as never }).session("s");
			const emitted: AgentEvent[] = [];
			for await (const event of (await session.send("go")).events()) emitted.push(event);
			expect(emitted.at(-1)).toMatchObject({ type: "turn-error", code: "invalid_model_output" });
			expect((await session.state()).messages.map(({ text }) => text)).toEqual(["go"]);
		},
	);

	test.each([
		["params", { temperature: 0 }],
		["config", { timeout: 5 }],
		["structure", { type: "object" }],
		["onRetry", () => {}],
	])("rejects the option `%s`, which would not reach it", (name, value) => {
		expect(() => new Agent({ model: () => [], [name]: value } as never)).toThrow(
			expect.objectContaining({ code: "invalid_option", message: expect.stringContaining(`\`${name}\``) }),
		);
	});

	test("that throws ends the run with its error", async () => {
		const { outcome } = await turn(() => Promise.reject(new Error("no gateway")));
		expect(outcome).toMatchObject({ outcome: "error", error: new Error("no gateway") });
	});
});

function circular(): object {
	const value: { self?: object } = {};
	value.self = value;
	return value;
}

test("providers are functions but not models; models are not functions", () => {
	const provider = createProvider({ name: "p", version: "1", modalities: {} });
	expect([() => [], provider, scriptedModel([]), "text", undefined].map(isRuntimeLlm)).toEqual([
		true,
		false,
		false,
		false,
		false,
	]);
});

test("each kind of content becomes a part", () => {
	const data = new Uint8Array([1]);
	expect(
		toModelMessages([
			new UserMessage([
				{ type: "image", source: { type: "url", url: "https://x.test/a.png" }, mimeType: "image/png" },
				{ type: "image", source: { type: "base64", data: "AQ==" }, mimeType: "image/png" },
				{ type: "document", source: { type: "text", data: "a" }, mimeType: "text/plain", title: "a.txt" },
				{ type: "audio", data, mimeType: "audio/wav" },
			]),
			new AssistantMessage([{ type: "reasoning", text: "hm", metadata: { p: { signature: "s" } } }]),
			new ToolResultMessage([{ toolCallId: "lost", result: "r", isError: true }]),
		]),
	).toEqual([
		{
			role: "user",
			content: [
				{ type: "file", data: new URL("https://x.test/a.png"), mediaType: "image/png" },
				{ type: "file", data: "AQ==", mediaType: "image/png" },
				{ type: "file", data: new Uint8Array([97]), mediaType: "text/plain", filename: "a.txt" },
				{ type: "file", data, mediaType: "audio/wav" },
			],
		},
		{
			role: "assistant",
			content: [{ type: "reasoning", text: "hm", providerOptions: { p: { signature: "s" } } }],
		},
		{
			role: "tool",
			content: [
				{
					type: "tool-result",
					toolCallId: "lost",
					toolName: "unknown",
					output: { type: "error-text", value: "r" },
				},
			],
		},
	]);
});
