import { execFile } from "node:child_process";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { AssistantMessage, type StreamEvent, UPPError } from "@holdfast/upp";
import { describe, expect, test, vi } from "vitest";
import { EventQueue } from "../engine/event-queue.ts";
import type { AgentStreamEvent } from "../engine/uap-events.ts";
import { AgentState } from "../state/agent-state.ts";
import {
	answer,
	anyTool,
	collect,
	contentOf,
	dataOf,
	deafModel,
	kinds,
	lines,
	modelOf,
} from "./agent.fixture.ts";
import { agent } from "./agent.ts";

const initial = AgentState.initial();
const echo = anyTool("echo", ({ text }) => text ?? "echoed");
const script: readonly (string | ScriptedReply)[] = [
	{
		reasoning: "I must look.",
		text: "Let me see.",
		toolCalls: [{ name: "echo" }, { name: "echo", arguments: { text: "b" } }],
	},
	"All done.",
];

describe("the events of a stream", () => {
	test("stream() gives events, result and abort at once, without awaiting [UAP-023]", async () => {
		const stream = agent({ model: scriptedModel(["hi"]) }).stream("go", initial);
		expect(stream[Symbol.asyncIterator]).toBeTypeOf("function");
		expect(stream.abort).toBeTypeOf("function");
		expect(stream.result).toBeInstanceOf(Promise);
		expect(Object.keys(await stream.result).sort()).toEqual(["state", "stopReason", "turn"]);
	});

	test("every event belongs to the agent or to the model, never both, and the model's events are unchanged [UAP-121]", async () => {
		const said: StreamEvent[] = [
			{ type: "message_start", index: 0, delta: {} },
			{ type: "text_delta", index: 0, delta: { text: "h" } },
			{ type: "text_delta", index: 0, delta: { text: "i" } },
			{ type: "message_stop", index: 0, delta: {} },
		];
		const model = modelOf({
			stream: () => ({
				response: Promise.resolve(answer(new AssistantMessage("hi"))),
				async *[Symbol.asyncIterator]() {
					yield* said;
				},
			}),
		});
		const one = agent({ model });
		const events = await collect(one.stream("go", initial));
		const upp = events.flatMap((event) => (event.source === "upp" ? [event.upp] : []));
		expect(upp).toHaveLength(4);
		for (const [at, event] of upp.entries()) expect(event).toBe(said[at]);
		for (const event of events) {
			expect("uap" in event).toBe(event.source === "uap");
			expect("upp" in event).toBe(event.source === "upp");
			if (event.source !== "uap") continue;
			expect(event.uap).toEqual({
				type: expect.stringMatching(/^step_(start|end)$/),
				step: 1,
				agentId: one.id,
				data: expect.any(Object),
			});
		}
	});

	test("each step of loop() starts with step_start and ends with step_end, action and observation between [UAP-122]", async () => {
		const one = agent({ model: scriptedModel(script), tools: [echo] });
		const events = await collect(one.stream("go", initial));
		const uap = events.flatMap((event) => (event.source === "uap" ? [event.uap] : []));
		expect(uap.map(({ type, step }) => [type, step])).toEqual([
			["step_start", 1],
			["action", 1],
			["observation", 1],
			["step_end", 1],
			["step_start", 2],
			["step_end", 2],
		]);
		expect(new Set(uap.map(({ agentId }) => agentId))).toEqual(new Set([one.id]));
		expect(kinds(events)[0]).toBe("step_start");
		expect(kinds(events).at(-1)).toBe("step_end");
		expect(dataOf(events, "action")).toEqual([
			{
				toolCalls: [
					expect.objectContaining({ toolCallId: "call_0_0" }),
					expect.objectContaining({ arguments: { text: "b" } }),
				],
			},
		]);
		expect(dataOf(events, "observation")).toEqual([
			{
				results: [
					expect.objectContaining({
						toolCallId: "call_0_0",
						toolName: "echo",
						result: "echoed",
						isError: false,
					}),
					expect.objectContaining({ toolCallId: "call_0_1", toolName: "echo", result: "b", isError: false }),
				],
			},
		]);
	});

	test("the start of a tool is readable while the tool still runs [UAP-123]", async () => {
		const gate = Promise.withResolvers<string>();
		const one = agent({
			model: scriptedModel([{ toolCalls: [{ name: "blocked" }] }, "Done."]),
			tools: [anyTool("blocked", () => gate.promise)],
		});
		const seen: string[] = [];
		for await (const event of one.stream("go", initial)) {
			seen.push(...kinds([event]));
			if (seen.at(-1) === "upp:tool_execution_start") {
				expect(seen).not.toContain("upp:tool_execution_end");
				gate.resolve("released");
			}
		}
		expect(seen.indexOf("upp:tool_execution_end")).toBeGreaterThan(seen.indexOf("upp:tool_execution_start"));
	});

	test("stream() and generate() end in the same state [UAP-124]", async () => {
		const make = () => agent({ model: scriptedModel(script), tools: [echo] });
		const begun = initial.withMetadata("a", { b: 1 }).withReasoning("before");
		const stream = make().stream("go", begun);
		await collect(stream);
		expect(contentOf((await stream.result).state)).toEqual(
			contentOf((await make().generate("go", begun)).state),
		);
	});

	test("the final state holds all messages of all steps in order, once each [UAP-125]", async () => {
		const make = () => agent({ model: scriptedModel(script), tools: [echo] });
		for (const { state } of [
			await make().generate("go", initial),
			await make().stream("go", initial).result,
		]) {
			expect(lines(state.messages)).toEqual([
				"user: go",
				"assistant: Let me see. [echo, echo]",
				"results: echoed, b",
				"assistant: All done.",
			]);
			expect((state.messages[1] as AssistantMessage).content[0]).toEqual({
				type: "reasoning",
				text: "I must look.",
			});
			expect(new Set(state.messages.map((message) => message.id)).size).toBe(4);
		}
	});
});

describe("reading a stream, or not", () => {
	test("the result settles even if no one iterates, and earlier events are delivered in order [UAP-116]", async () => {
		const read = async (late: boolean): Promise<string[]> => {
			const stream = agent({ model: scriptedModel(script), tools: [echo] }).stream("go", initial);
			if (late) await stream.result;
			return kinds(await collect(stream));
		};
		expect(await read(true)).toEqual(await read(false));
	});

	test("the result settles when the consumer leaves early [UAP-117]", async () => {
		const stream = agent({ model: scriptedModel(script), tools: [echo] }).stream("go", initial);
		for await (const _ of stream) break;
		const { state } = await stream.result;
		expect(state.step).toBe(2);
		expect(await collect(stream)).toEqual([]);
	});

	test("nothing keeps the process alive once the result has settled [UAP-117]", async () => {
		const program = `
			import { agent } from ${JSON.stringify(new URL("../index.ts", import.meta.url))};
			import { scriptedModel } from "@holdfast/testing";
			const echo = { name: "echo", description: "", parameters: { type: "object" }, run: () => "e" };
			const model = scriptedModel([{ toolCalls: [{ name: "echo" }] }, "Done."]);
			const stream = agent({ model, tools: [echo] }).stream("go");
			for await (const _ of stream) break;
			await stream.result;
			console.log(JSON.stringify(process.getActiveResourcesInfo().filter((name) => /Timeout|Immediate/.test(name))));
		`;
		const flags = ["--conditions=holdfast-source", "--input-type=module", "--eval", program];
		const output = await new Promise<string>((resolve, reject) => {
			execFile(process.execPath, flags, { cwd: import.meta.dirname, timeout: 60_000 }, (error, stdout) =>
				error ? reject(error) : resolve(stdout),
			);
		});
		expect(output.trim()).toBe("[]");
	});

	test("a failure is thrown to iterators and to awaiters, as the same error [UAP-118]", async () => {
		const error = new UPPError("down", "PROVIDER_ERROR", "maker", "llm");
		const stream = agent({
			model: scriptedModel([script[0] as ScriptedReply, { error }]),
			tools: [echo],
		}).stream("go", initial);
		const seen: string[] = [];
		await expect(
			(async () => {
				for await (const event of stream) seen.push(...kinds([event]));
			})(),
		).rejects.toBe(error);
		expect(seen).toContain("observation");
		await expect(stream.result).rejects.toBe(error);
	});

	test("an un-awaited failure causes no unhandled rejection [UAP-118]", async () => {
		const unhandled: unknown[] = [];
		const note = (reason: unknown): void => void unhandled.push(reason);
		process.on("unhandledRejection", note);
		try {
			const failing = () =>
				scriptedModel([{ toolCalls: [{ name: "fail" }] }, { text: "so far", error: new Error("down") }]);
			const fail = anyTool("fail", async () => {
				throw new Error("tool");
			});
			const hook = async (): Promise<never> => {
				throw new Error("hook");
			};
			const streams = [
				agent({ model: failing(), tools: [fail] }),
				agent({ model: failing(), tools: [fail], toolStrategy: { onToolCall: hook } }),
				agent({ model: failing(), tools: [fail], toolStrategy: { onError: hook } }),
				agent({ model: failing(), tools: [fail], strategy: { onStepEnd: hook } }),
				agent({ model: modelOf({ complete: hook }) }),
				agent({}),
			].map((one) => one.stream("go", initial));
			const ends = await Promise.allSettled(streams.map(collect));
			await new Promise((resolve) => setImmediate(resolve));
			expect(ends.map((end) => end.status)).toEqual(streams.map(() => "rejected"));
			expect(unhandled).toEqual([]);
		} finally {
			process.off("unhandledRejection", note);
		}
	});

	test("an unread stream keeps its text, but not every delta [UAP-116]", async () => {
		const count = 200_000;
		const deltas = function* (): Generator<StreamEvent> {
			for (let at = 0; at < count; at++) yield { type: "text_delta", index: 0, delta: { text: `${at} ` } };
		};
		const model = modelOf({
			stream: () => ({
				response: Promise.resolve(answer(new AssistantMessage("long"))),
				async *[Symbol.asyncIterator]() {
					yield* deltas();
				},
			}),
		});
		const stream = agent({ model }).stream("go", initial);
		await stream.result;
		const events = await collect(stream);
		expect(events.length).toBeLessThan(2_000);
		const text = events.map((event) => (event.source === "upp" ? (event.upp.delta.text ?? "") : "")).join("");
		expect(text).toBe(Array.from({ length: count }, (_, at) => `${at} `).join(""));
		expect(kinds(events).slice(-1)).toEqual(["step_end"]);
	});
});

describe("an unread stream of many steps", () => {
	const rounds = 400;
	const answers: readonly (string | ScriptedReply)[] = [
		...Array.from({ length: rounds }, (_, at) => ({
			reasoning: `I look ${at}.`,
			text: `step ${at}`,
			toolCalls: [{ name: "echo", arguments: { text: `${at}` } }],
		})),
		"All done.",
	];
	const start = (given = answers) =>
		agent({ model: scriptedModel(given), tools: [echo] }).stream("go", initial);
	/** The content of a stream, however finely it was streamed. */
	const said = (events: readonly AgentStreamEvent[]): readonly unknown[] => {
		const rows: unknown[] = [];
		let text = "";
		for (const { source, uap, upp } of events) {
			if (source === "upp") text += `${upp.delta.text ?? ""}${upp.delta.argumentsJson ?? ""}`;
			if (source === "upp" && !upp.type.startsWith("tool_execution")) continue;
			const data = JSON.parse(
				JSON.stringify(uap?.data ?? {}, (name, value) => (name === "duration" ? 0 : value)),
			);
			rows.push([text, uap?.type ?? upp?.type, uap?.step, data]);
			text = "";
		}
		return rows;
	};

	test("keeps no more events than its limit, and reads the others from the journal [UAP-116]", async () => {
		const read = await collect(start());
		const kept = vi.spyOn(EventQueue.prototype, "push");
		const stream = start();
		await stream.result;
		expect(kept.mock.calls.length).toBeGreaterThan(900);
		expect(kept.mock.calls.length).toBeLessThan(1_050);
		kept.mockRestore();
		expect(said(await collect(stream))).toEqual(said(read));
	});

	test.each(Array.from({ length: 12 }, (_, words) => words))(
		"delivers all of them regardless of where its limit is reached: after %i words",
		async (words) => {
			const given = [
				{ ...(answers[0] as ScriptedReply), text: "a ".repeat(words) },
				...answers.slice(1, 150),
				"done",
			];
			const stream = start(given);
			await stream.result;
			expect(said(await collect(stream))).toEqual(said(await collect(start(given))));
		},
	);

	test("can be read while it continues, and ends with the error of its run", async () => {
		const failing = [...answers.slice(0, rounds), { text: "No", error: new Error("The provider is down.") }];
		const stream = start(failing);
		stream.result.catch(() => {});
		const events: AgentStreamEvent[] = [];
		const reading = (async () => {
			for await (const event of stream) {
				events.push(event);
				if (events.length === 1) await stream.result.catch(() => {});
			}
		})();
		await expect(reading).rejects.toThrow("The provider is down.");
		expect(kinds(events).filter((kind) => kind === "step_start")).toHaveLength(rounds + 1);
	});
});

describe("aborting a stream", () => {
	test("a model that never answers is cancelled: its signal, the iteration and the result [UAP-119]", async () => {
		const { model, asked } = deafModel();
		const stream = agent({ model }).stream("go", initial);
		const read = collect(stream);
		const request = await asked;
		expect(request.signal?.aborted).toBe(false);
		stream.abort();
		expect(request.signal?.aborted).toBe(true);
		expect(kinds(await read)).toEqual(["step_start"]);
		await expect(stream.result).rejects.toBeInstanceOf(UPPError);
		await expect(stream.result).rejects.toMatchObject({ code: "CANCELLED" });
	});

	test("aborting before iteration, twice or after completion is harmless [UAP-120]", async () => {
		const asked = scriptedModel(script);
		const early = agent({ model: asked, tools: [echo] }).stream("go", initial);
		early.abort();
		early.abort();
		await expect(early.result).rejects.toMatchObject({ code: "CANCELLED" });
		expect(asked.requests.length).toBeLessThanOrEqual(1);
		const signals: AbortSignal[] = [];
		const keep = anyTool("echo", (_, { signal }) => signals.push(signal));
		const late = agent({ model: scriptedModel(script), tools: [keep] }).stream("go", initial);
		const result = await late.result;
		late.abort();
		expect(await late.result).toBe(result);
		expect(kinds(await collect(late)).at(-1)).toBe("step_end");
		expect(signals.map((signal) => signal.aborted)).toEqual([false, false]);
	});
});
