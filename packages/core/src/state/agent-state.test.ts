import { AssistantMessage, type Message, ToolResultMessage, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { AgentState } from "./agent-state.ts";
import type { PlanStep } from "./plan-step.ts";
import { contentOf } from "./random-state.fixture.ts";
import type { SubagentExecutionTrace } from "./subagent-trace.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const step: PlanStep = { id: "1", description: "look", dependsOn: [], status: "pending" };
const trace: SubagentExecutionTrace = {
	subagentId: "agent-1",
	subagentType: "explorer",
	parentToolCallId: "call-1",
	prompt: "look around",
	startTime: 1_000,
	endTime: 2_000,
	success: true,
};

function fullState(): AgentState {
	return AgentState.initial()
		.withMessages([new UserMessage("one"), new AssistantMessage("two")])
		.withStep(2)
		.withMetadata("key", { deep: [1] })
		.withReasoning("because")
		.withPlan([step])
		.withSubagentTrace(trace);
}

/** Does what strict code refuses, as non-strict code would. */
function attempt(change: () => unknown): void {
	try {
		change();
	} catch (error) {
		expect(error).toBeInstanceOf(TypeError);
	}
}

describe("a state", () => {
	test("rejects an invalid message", () => {
		const state = AgentState.initial();
		const refused = expect.objectContaining({ code: "invalid_message" });
		for (const wrong of [5, null, { type: "user", content: "hi" }] as unknown as Message[]) {
			expect(() => state.withMessage(wrong)).toThrow(refused);
			expect(() => state.withMessages([new UserMessage("one"), wrong])).toThrow(refused);
			expect(() => state.withContext([wrong])).toThrow(refused);
		}
		for (const wrong of [undefined, "hi", new UserMessage("one")] as unknown as Message[][]) {
			expect(() => state.withMessages(wrong)).toThrow(refused);
			expect(() => state.withContext(wrong)).toThrow(refused);
		}
	});

	test("is empty at first, and a new object each time [UAP-054]", () => {
		const [a, b] = [AgentState.initial(), AgentState.initial()];
		expect(contentOf(a)).toEqual({ messages: [], step: 0, metadata: {}, reasoning: [] });
		expect(contentOf(b)).toEqual(contentOf(a));
		expect(b.id).not.toBe(a.id);
	});

	test("has its own UUIDv4 after every operation", () => {
		const state = fullState();
		const states = [
			AgentState.initial(),
			state,
			state.withMessage(new UserMessage("x")),
			state.withMessages([]),
			state.withContext([]),
			state.withStep(2),
			state.withMetadata("key", 1),
			state.withReasoning("x"),
			state.withPlan([]),
			state.withSubagentTrace(trace),
		];
		for (const { id } of states) expect(id).toMatch(uuid);
		expect(new Set(states.map(({ id }) => id)).size).toBe(states.length);
		expect(state.id).toBe(state.id);
	});

	test("appends one message or several, in order, and keeps everything else [UAP-055]", () => {
		const state = fullState();
		const [a, b, c] = [new UserMessage("a"), new AssistantMessage("b"), new UserMessage("c")];
		const next = state.withMessage(a).withMessages([b, c]);
		expect(next.messages).toEqual([...state.messages, a, b, c]);
		expect(next.messages[2]).toBe(a);
		expect({ ...contentOf(next), messages: [] }).toEqual({ ...contentOf(state), messages: [] });
	});

	test("replaces its history and keeps everything else [UAP-056]", () => {
		const state = fullState();
		const fresh = new UserMessage("fresh");
		const next = state.withContext([fresh]);
		expect(next.messages).toEqual([fresh]);
		expect({ ...contentOf(next), messages: [] }).toEqual({ ...contentOf(state), messages: [] });
		expect(state.withContext([]).messages).toEqual([]);
		expect(state.messages).toHaveLength(2);
	});

	test("sets step, metadata, reasoning and plan separately [UAP-057]", () => {
		const state = fullState();
		const before = contentOf(state);
		expect(before).toMatchObject({
			step: 2,
			metadata: { key: { deep: [1] } },
			reasoning: ["because"],
			plan: [step],
		});
		const other: PlanStep = { ...step, id: "2", status: "completed", tool: "grep" };
		expect(contentOf(state.withStep(7))).toEqual({ ...before, step: 7 });
		expect(contentOf(state.withMetadata("more", null))).toEqual({
			...before,
			metadata: { key: { deep: [1] }, more: null },
		});
		expect(contentOf(state.withMetadata("key", 2))).toEqual({ ...before, metadata: { key: 2 } });
		expect(contentOf(state.withReasoning("and"))).toEqual({ ...before, reasoning: ["because", "and"] });
		expect(contentOf(state.withPlan([other]))).toEqual({ ...before, plan: [other] });
		expect(contentOf(state)).toEqual(before);
	});

	test("appends traces of sub-agents", () => {
		const state = fullState();
		const second = { ...trace, subagentId: "agent-2" };
		expect(state.withSubagentTrace(second).subagentTraces).toEqual([trace, second]);
		expect(state.subagentTraces).toEqual([trace]);
		expect(AgentState.initial().subagentTraces).toBeUndefined();
	});

	test("rejects a step, a plan or a trace that it could not restore", () => {
		const state = AgentState.initial();
		const refused = (path: string): unknown =>
			expect.objectContaining({ code: "invalid_state", data: { path } });
		expect(() => state.withStep(1.5)).toThrow(refused("step"));
		expect(() => state.withReasoning(1 as never)).toThrow(refused("reasoning"));
		expect(() => state.withPlan([step, { ...step, status: "done" as never }])).toThrow(
			refused("plan.1.status"),
		);
		expect(() => state.withSubagentTrace({ ...trace, endTime: 0.5 })).toThrow(
			refused("subagentTraces.0.endTime"),
		);
	});
});

describe("a state cannot be changed", () => {
	test("by assigning to it or to its members [UAP-067]", () => {
		const bytes = new Uint8Array([1, 2]);
		const state = fullState()
			.withMetadata("bytes", bytes)
			.withMetadata("when", [new Date(5)]);
		const before = structuredClone(state.toJSON());
		// biome-ignore lint/suspicious/noExplicitAny: the point is to do what the types forbid
		const open = state as any;
		for (const name of ["id", "messages", "step", "metadata", "reasoning", "plan", "subagentTraces"]) {
			attempt(() => {
				open[name] = undefined;
			});
		}
		attempt(() => open.messages.push(new UserMessage("x")));
		attempt(() => open.messages[0].content.push({ type: "text", text: "x" }));
		attempt(() => {
			open.messages[0].content[0].text = "x";
		});
		attempt(() => open.reasoning.push("x"));
		attempt(() => {
			open.metadata.key.deep[0] = 2;
		});
		attempt(() => {
			open.metadata.other = 1;
		});
		attempt(() => open.metadata.bytes.fill(9));
		attempt(() => open.metadata.when[0].setTime(9));
		attempt(() => {
			open.plan[0].status = "failed";
		});
		attempt(() => open.plan[0].dependsOn.push("x"));
		attempt(() => {
			open.subagentTraces[0].prompt = "x";
		});
		expect(state.toJSON()).toEqual(before);
		expect(state.metadata.bytes).toEqual(new Uint8Array([1, 2]));
		expect(state.metadata.when).toEqual([new Date(5)]);
	});

	test("by changing bytes and times of its messages, of which each reader gets copies [UAP-067]", () => {
		const data = new Uint8Array([1, 2]);
		const shared = new Float64Array([1]);
		const timestamp = new Date(5);
		const message = new UserMessage(
			[
				{ type: "audio", data, mimeType: "audio/mp3" },
				{ type: "image", source: { type: "bytes", data }, mimeType: "image/png" },
			],
			{ timestamp, metadata: { acme: { shared, at: new Date(6) } } },
		);
		const results = new ToolResultMessage([{ toolCallId: "c", result: { data } }]);
		const state = AgentState.initial().withMessages([message, results]);
		const before = JSON.stringify(state);
		// biome-ignore lint/suspicious/noExplicitAny: the point is to do what the types forbid
		const open = state as any;
		for (const said of [open.messages[0], message as never]) {
			attempt(() => said.content[0].data.fill(9));
			attempt(() => said.content[1].source.data.fill(9));
			attempt(() => said.metadata.acme.shared.fill(9));
			attempt(() => said.metadata.acme.at.setTime(9));
			attempt(() => said.timestamp.setTime(9));
		}
		attempt(() => open.messages[1].results[0].result.data.fill(9));
		data.fill(8);
		shared.fill(8);
		timestamp.setTime(8);
		expect(JSON.stringify(state)).toBe(before);
		expect(open.messages[0].content[0].data).toEqual(new Uint8Array([1, 2]));
		expect(open.messages[0].timestamp).toEqual(new Date(5));
		expect({ ...open.messages[0] }.timestamp).toEqual(new Date(5));
		expect(AgentState.fromJSON(JSON.parse(before)).messages[0]?.timestamp).toEqual(new Date(5));
	});

	test.each([
		["freeze", Object.freeze],
		["seal", Object.seal],
		["preventExtensions", Object.preventExtensions],
	])("by changing the content of a message that Object.%s closed before [UAP-068]", (_, close) => {
		for (const way of ["withMessage", "withContext"] as const) {
			const content = [{ type: "text" as const, text: "said" }];
			const metadata = { acme: { list: [1] } };
			const message = new UserMessage(content, { id: "m", metadata });
			close(message);
			const initial = AgentState.initial();
			const state = way === "withMessage" ? initial.withMessage(message) : initial.withContext([message]);
			content[0] = { type: "text", text: "changed" };
			metadata.acme.list.push(2);
			const [kept] = state.messages as [UserMessage];
			expect(kept).toBeInstanceOf(UserMessage);
			expect(kept).toMatchObject({ id: "m", metadata: { acme: { list: [1] } }, text: "said" });
			expect(kept.timestamp).toEqual(message.timestamp);
			expect(Object.isFrozen(kept.content)).toBe(true);
			expect(state.withContext(state.messages).messages[0]).toBe(kept);
		}
	});

	test("by changing the values it was built from [UAP-068]", () => {
		const content = [{ type: "text" as const, text: "said" }];
		const calls = [{ toolCallId: "c", toolName: "t", arguments: { list: [1] } }];
		const messages: Message[] = [new UserMessage(content), new AssistantMessage("", calls)];
		const value = { list: [1], bytes: new Uint8Array([1]) };
		const plan = [{ ...step, dependsOn: ["0"] }];
		const states = [
			AgentState.initial().withMessages(messages),
			AgentState.initial().withContext(messages),
		].map((state) => state.withMetadata("value", value).withPlan(plan));
		const before = states.map((state) => JSON.stringify(state));
		content[0] = { type: "text", text: "changed" };
		content.push({ type: "text", text: "more" });
		(calls[0] as { arguments: { list: number[] } }).arguments.list.push(2);
		messages.length = 0;
		value.list.push(2);
		value.bytes[0] = 9;
		plan[0]?.dependsOn.push("9");
		plan.pop();
		expect(states.map((state) => JSON.stringify(state))).toEqual(before);
	});

	test("by changing its JSON data, before or after it was restored", () => {
		const json = fullState().toJSON();
		const text = JSON.stringify(json);
		const state = AgentState.fromJSON(json);
		(json.messages[0] as { content: unknown[] }).content.push("x");
		(json.metadata as { key: { deep: number[] } }).key.deep.push(2);
		(json.plan as PlanStep[]).pop();
		json.subagentTraces?.pop();
		json.reasoning?.push("x");
		expect(JSON.stringify(state.toJSON())).toBe(text);
	});
});

test("a message is frozen by the state and stays the same object", () => {
	const content = [{ type: "text" as const, text: "said" }];
	const message = new UserMessage(content, { metadata: { provider: { id: 1 } } });
	const state = AgentState.initial().withMessage(message);
	expect(state.messages[0]).toBe(message);
	expect(Object.isFrozen(message) && Object.isFrozen(message.content)).toBe(true);
	expect(() => content.push({ type: "text", text: "mine" })).not.toThrow();
	expect(state.withContext(state.messages).messages[0]).toBe(message);
});

test("a message of another package is converted, and anything else is rejected with a helpful message", () => {
	const other = {
		id: "m",
		type: "user",
		timestamp: new Date(5),
		content: [{ type: "text", text: "Hello." }],
		get text() {
			return "theirs";
		},
	};
	const state = AgentState.initial().withMessages([other as unknown as UserMessage]);
	expect(state.messages[0]).toBeInstanceOf(UserMessage);
	expect(state.messages[0]).toMatchObject({ id: "m", text: "Hello.", timestamp: new Date(5) });
	const given = { role: "user", content: "Hello." } as unknown as UserMessage;
	expect(() => state.withMessage(given)).toThrow(
		expect.objectContaining({
			code: "invalid_message",
			message: expect.stringMatching(/AI SDK.*UserMessage/),
		}),
	);
});

test("values nested deeper than the stack are copied and frozen completely, and cannot be written as JSON", () => {
	const levels = 100_000;
	let deep: Record<string, unknown> = { bottom: true };
	for (let level = 0; level < levels; level++) deep = { a: deep };
	const state = AgentState.initial().withMetadata("deep", deep);
	let copy = state.metadata.deep as Record<string, unknown>;
	for (let level = 0; level < levels; level++) copy = copy.a as Record<string, unknown>;
	expect(copy).toEqual({ bottom: true });
	expect(Object.isFrozen(copy)).toBe(true);
	expect(() => state.toJSON()).toThrow(expect.objectContaining({ code: "unserialisable_value" }));
	expect(() => state.withMessage(new UserMessage("deep", { metadata: { deep } }))).not.toThrow();
});

test("metadata may contain values that JSON cannot represent, until it is written", () => {
	const run = (): number => 1;
	const circular: Record<string, unknown> = { name: "circle" };
	circular.self = circular;
	expect(AgentState.initial().withMetadata("run", { run }).metadata).toEqual({ run: { run } });
	const kept = AgentState.initial().withMetadata("circle", circular).metadata.circle as typeof circular;
	expect(kept.self).toBe(kept);
	expect(Object.isFrozen(kept)).toBe(true);
});
