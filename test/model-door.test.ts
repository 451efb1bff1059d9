// What a model should not answer, as a run sees it: an error with a code, and nothing that a session could not read again.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AssistantMessage, createProvider, type LLMResponse } from "@holdfast/upp";
import { Agent } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import type { AgentEvent } from "holdfast/types";
import { expect, test } from "vitest";

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const calling = (call: object): unknown => ({
	message: new AssistantMessage("kept?", [{ toolCallId: "c1", toolName: "look", arguments: {}, ...call }]),
	usage,
	stopReason: "tool_calls",
});
const saying = (text: unknown): LLMResponse => ({
	message: new AssistantMessage([{ type: "text", text: text as string }]),
	usage,
	stopReason: "stop",
});

const wrong: readonly (readonly [string, unknown])[] = [
	["nothing", undefined],
	["text", "Hello."],
	["a list", []],
	["arguments that are null", calling({ arguments: null })],
	["arguments that are text", calling({ arguments: "{}" })],
	["arguments that are a list", calling({ arguments: [1] })],
	["arguments that JSON cannot say", calling({ arguments: { count: 1n } })],
	["a call without a name", calling({ toolName: undefined })],
	["a call with a number for its id", calling({ toolCallId: 7 })],
	["text that is a number", saying(7)],
	["no usage", { ...saying("kept?"), usage: null }],
	["usage that is no number", { ...saying("kept?"), usage: { ...usage, totalTokens: Number.NaN } }],
	["data that JSON cannot say", { ...saying("kept?"), data: () => 1 }],
];

/** A model that gives these answers in order, whole or streamed. */
function modelOf(manner: "whole" | "streamed", answers: unknown[]) {
	const capabilities = {
		streaming: manner === "streamed",
		tools: true,
		structuredOutput: false,
		imageInput: false,
		videoInput: false,
		audioInput: false,
	};
	const bind = (modelId: string) => ({
		modelId,
		capabilities,
		complete: async () => answers.shift() as LLMResponse,
		stream: () => ({
			response: Promise.resolve(answers.shift() as LLMResponse),
			async *[Symbol.asyncIterator]() {},
		}),
	});
	return createProvider({ name: "odd", version: "1", modalities: { llm: { bind } } })("m");
}

async function send(agent: Agent, input: string): Promise<AgentEvent | undefined> {
	let last: AgentEvent | undefined;
	for await (const event of (await agent.session("s").send(input)).events()) last = event;
	return last;
}

test.each([
	["whole", "memory"],
	["streamed", "memory"],
	["whole", "SQLite"],
	["streamed", "SQLite"],
] as const)(
	"a wrong answer, given %s, fails its turn with INVALID_RESPONSE, and a session in %s can be read again",
	async (manner, store) => {
		const path = join(mkdtempSync(join(tmpdir(), "model-door-")), "sessions.db");
		const answers = [...wrong.map(([, answer]) => answer), saying("Good.")];
		const model = modelOf(manner, answers);
		let agent = new Agent(store === "SQLite" ? { model, host: sqliteHost(path) } : { model });
		for (const [what] of wrong) {
			const last = await send(agent, what);
			expect(last, what).toMatchObject({ type: "turn-error", code: "INVALID_RESPONSE" });
		}
		if (store === "SQLite") {
			await agent.close();
			agent = new Agent({ model, host: sqliteHost(path) });
		}
		expect((await send(agent, "And now?"))?.type).toBe("turn-end");
		const { messages } = await agent.session("s").state();
		expect(messages.map(({ text }) => text)).toEqual([...wrong.map(([what]) => what), "And now?", "Good."]);
		await agent.close();
	},
);
