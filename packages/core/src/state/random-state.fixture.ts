// Random states for tests: every kind of message and block, bytes and dates anywhere, odd keys and texts.
import { AssistantMessage, type Message, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { AgentState } from "./agent-state.ts";
import type { PlanStep } from "./plan-step.ts";
import type { SubagentExecutionTrace } from "./subagent-trace.ts";

const bytes = fc.uint8Array({ maxLength: 20 });
const date = fc.date({ noInvalidDate: true });
const text = fc.oneof(
	fc.string(),
	fc.string({ unit: "binary" }),
	fc.constantFrom("😀", "é", "a\u0000b", "\ud83d"),
);
const key = fc.oneof(fc.string(), fc.constantFrom("$holdfast", "__proto__", "constructor", "toString", "0"));

/** Objects are made from entries, so that a key `__proto__` is a member and no prototype. */
function record<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Record<string, Value>> {
	return fc.array(fc.tuple(key, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));
}

const { anything } = fc.letrec((tie) => ({
	anything: fc.oneof(
		{ maxDepth: 3 },
		text,
		fc.double(),
		fc.integer(),
		fc.boolean(),
		fc.constant(null),
		bytes,
		date,
		fc.array(tie("anything"), { maxLength: 4 }),
		record(tie("anything")),
	),
}));

/** Any value that a state can write, nested. */
export const anyValue: fc.Arbitrary<unknown> = anything;
export const anyRecord: fc.Arbitrary<Record<string, unknown>> = record(anyValue);

const metadata = record(anyRecord);
const source = fc.oneof(
	fc.record({ type: fc.constant("base64" as const), data: fc.base64String() }),
	fc.record({ type: fc.constant("url" as const), url: fc.webUrl() }),
	fc.record({ type: fc.constant("bytes" as const), data: bytes }),
);
const mimeType = fc.constantFrom("image/png", "audio/wav", "application/pdf");
const optional = { requiredKeys: ["type", "data", "mimeType"] as ["type", "data", "mimeType"] };
const media = {
	data: bytes,
	mimeType,
	duration: fc.double({ min: 0, max: 100, noNaN: true }),
	metadata,
};
const userBlock = fc.oneof(
	fc.record({ type: fc.constant("text" as const), text, metadata }, { requiredKeys: ["type", "text"] }),
	fc.record(
		{ type: fc.constant("image" as const), source, mimeType, width: fc.nat(), metadata },
		{ requiredKeys: ["type", "source", "mimeType"] },
	),
	fc.record({ type: fc.constant("audio" as const), ...media }, optional),
	fc.record({ type: fc.constant("video" as const), ...media, width: fc.nat() }, optional),
	fc.record(
		{ type: fc.constant("document" as const), source, mimeType, title: text },
		{ requiredKeys: ["type", "source", "mimeType"] },
	),
	fc.record({ type: fc.constant("binary" as const), data: bytes, mimeType, metadata: anyRecord }, optional),
);
const reasoning = fc.record(
	{ type: fc.constant("reasoning" as const), text, metadata },
	{ requiredKeys: ["type", "text"] },
);
const call = fc.record(
	{
		toolCallId: text,
		toolName: text,
		arguments: anyRecord,
		after: fc.array(text, { maxLength: 2 }),
		metadata,
	},
	{ requiredKeys: ["toolCallId", "toolName", "arguments"] },
);
const result = fc.record(
	{ toolCallId: text, result: anyValue, isError: fc.boolean() },
	{ requiredKeys: ["toolCallId", "result"] },
);
const options = fc.record(
	{ id: fc.uuid({ version: 4 }), timestamp: date, metadata },
	{ requiredKeys: ["id", "timestamp"] },
);

export const anyMessage: fc.Arbitrary<Message> = fc.oneof(
	fc
		.tuple(fc.array(userBlock, { maxLength: 3 }), options)
		.map(([content, given]) => new UserMessage(content, given)),
	fc
		.tuple(
			fc.array(fc.oneof(userBlock, reasoning), { maxLength: 3 }),
			fc.option(fc.array(call, { maxLength: 2 }), { nil: undefined }),
			options,
		)
		.map(([content, calls, given]) => new AssistantMessage(content, calls, given)),
	fc
		.tuple(fc.array(result, { maxLength: 3 }), options)
		.map(([results, given]) => new ToolResultMessage(results, given)),
);

export const anyPlan: fc.Arbitrary<PlanStep[]> = fc.array(
	fc.record(
		{
			id: fc.string({ minLength: 1 }),
			description: text,
			tool: text,
			dependsOn: fc.array(text, { maxLength: 2 }),
			status: fc.constantFrom("pending", "in_progress", "completed", "failed"),
		},
		{ requiredKeys: ["id", "description", "dependsOn", "status"] },
	),
	{ maxLength: 3 },
);

const tokens = { inputTokens: fc.nat(), outputTokens: fc.nat() };
const usage = fc.record(
	{
		...tokens,
		totalTokens: fc.nat(),
		cacheReadTokens: fc.nat(),
		cycles: fc.array(fc.record(tokens), { maxLength: 2 }),
	},
	{ requiredKeys: ["inputTokens", "outputTokens", "totalTokens"] },
);
const time = fc.integer({ min: -8.64e15, max: 8.64e15 });
const execution = fc.record(
	{
		toolName: text,
		toolCallId: text,
		arguments: anyRecord,
		result: text,
		isError: fc.boolean(),
		duration: fc.nat(),
	},
	{ requiredKeys: ["toolName", "arguments", "result"] },
);

export const anyTrace: fc.Arbitrary<SubagentExecutionTrace> = fc.record(
	{
		subagentId: fc.uuid({ version: 4 }),
		subagentType: text,
		parentToolCallId: text,
		prompt: text,
		startTime: time,
		endTime: time,
		success: fc.boolean(),
		result: text,
		error: text,
		toolExecutions: fc.array(execution, { maxLength: 2 }),
		usage,
	},
	{
		requiredKeys: [
			"subagentId",
			"subagentType",
			"parentToolCallId",
			"prompt",
			"startTime",
			"endTime",
			"success",
		],
	},
);

/** States created by the operations available to callers. */
export const anyState: fc.Arbitrary<AgentState> = fc
	.record({
		messages: fc.array(anyMessage, { maxLength: 5 }),
		step: fc.nat(),
		metadata: anyRecord,
		reasoning: fc.array(text, { maxLength: 3 }),
		plan: fc.option(anyPlan, { nil: undefined }),
		traces: fc.array(anyTrace, { maxLength: 2 }),
		usage: fc.option(
			usage.map((given) => structuredClone(given)),
			{ nil: undefined },
		),
	})
	.map(({ messages, step, metadata, reasoning, plan, traces, usage }) => {
		let state = AgentState.initial().withMessages(messages).withStep(step);
		for (const [key, value] of Object.entries(metadata)) state = state.withMetadata(key, value);
		for (const trace of reasoning) state = state.withReasoning(trace);
		if (plan !== undefined) state = state.withPlan(plan);
		for (const trace of traces) state = state.withSubagentTrace(trace);
		return usage === undefined ? state : AgentState.ofParts({ ...AgentState.partsOf(state), usage });
	});

/** The content of a state, as plain members that tests compare. */
export function contentOf(state: AgentState): Record<string, unknown> {
	const { messages, step, metadata, reasoning, plan, usage, subagentTraces } = state;
	return { messages, step, metadata, reasoning, plan, usage, subagentTraces };
}
