import type { LoggedEvent } from "holdfast/execute";
import { expect, test } from "vitest";
import type { AgUiEvent } from "./ag-ui-event.ts";
import { AgUiProjection } from "./ag-ui-projection.ts";

type Event = LoggedEvent["event"];

function project(events: readonly Event[], answered: readonly string[] = []): readonly AgUiEvent[] {
	const projection = new AgUiProjection({ threadId: "t", runId: "r", answered: new Set(answered) });
	return events.flatMap((event, index) => projection.add({ id: `${index}.0.0`, event }));
}

const begin: readonly Event[] = [
	{ type: "session_start", sessionId: "t" },
	{ type: "message_start", role: "assistant" },
];
const toolCall = { id: "c", name: "add", arguments: { a: 1 } };
const text = (said: string): readonly Event[] => [
	{ type: "text_start" },
	{ type: "text_delta", delta: said },
	{ type: "text_end", text: said },
];

test("a message's first text has the message's id, and later texts have their own ids", () => {
	const ids = project([...begin, ...text("one"), ...text("two")]).map(
		(event) => "messageId" in event && event.messageId,
	);
	expect(ids).toEqual([...Array(3).fill("message-1.0.0"), ...Array(3).fill("message-1.0.0-1")]);
});

const made: readonly Event[] = [
	...begin,
	{ type: "toolcall_start", index: 0, id: "c", name: "add" },
	{ type: "toolcall_delta", index: 0, delta: "{" },
	{ type: "toolcall_end", index: 0, toolCall },
];
const withArguments = (delta: string): readonly AgUiEvent[] => [
	{ type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "add", parentMessageId: "message-1.0.0" },
	{ type: "TOOL_CALL_ARGS", toolCallId: "c", delta },
	{ type: "TOOL_CALL_END", toolCallId: "c" },
];
const waits: Event = {
	type: "awaiting_tool_execution",
	sessionId: "t",
	toolCalls: [{ ...toolCall, arguments: { a: 2 } }],
};

test("a call belongs to its message, and is emitted once its final arguments are known", () => {
	expect(project(made)).toEqual([]);
	const runs: Event = { type: "tool_execution_start", toolCallId: "c", toolName: "add", args: { a: 2 } };
	expect(project([...made, runs])).toEqual(withArguments('{"a":2}'));
	expect(project([...made, waits])).toEqual(withArguments('{"a":2}'));
	expect(project([...made, waits, runs])).toEqual(withArguments('{"a":2}'));
});

test("arguments that an approver changed follow the shown ones", () => {
	const runs: Event = { type: "tool_execution_start", toolCallId: "c", toolName: "add", args: { a: 9 } };
	expect(project([...made, waits, runs]).at(-1)).toEqual({
		type: "CUSTOM",
		name: "tool_input",
		value: { toolCallId: "c", input: { a: 9 } },
	});
});

test("a call that did not run has the model's arguments", () => {
	const message = { role: "tool", toolCallId: "c", toolName: "add", output: "no", isError: true } as const;
	const events = project([...made, { type: "message_end", message: { ...message, timestamp: 0 } }]);
	expect(events.slice(0, 3)).toEqual(withArguments('{"a":1}'));
	expect(events.at(-1)).toMatchObject({ type: "TOOL_CALL_RESULT" });
});

test("a call of an answer that was cut off is not emitted, because it never runs", () => {
	const cutOff = project([...made.slice(0, 4), { type: "execute_complete", status: "completed" }]);
	expect(cutOff.map(({ type }) => type)).toEqual(["RUN_FINISHED"]);
});

test("a result is emitted once, and not to the front end that sent it", () => {
	const settled: readonly Event[] = [
		...begin,
		{ type: "tool_execution_end", toolCallId: "c", output: "1" },
		{
			type: "message_end",
			message: { role: "tool", toolCallId: "c", toolName: "add", output: "1", isError: false, timestamp: 0 },
		},
	];
	expect(project(settled)).toMatchObject([{ type: "TOOL_CALL_RESULT", toolCallId: "c", content: "1" }]);
	expect(project(settled, ["c"])).toEqual([]);
});

test("output of a running tool is a custom event", () => {
	expect(project([{ type: "tool_execution_delta", toolCallId: "c", delta: "half" }])).toEqual([
		{ type: "CUSTOM", name: "tool_execution_delta", value: { toolCallId: "c", delta: "half" } },
	]);
});

test("a run ends as a success, an interrupt, cancelled, or with its error", () => {
	const end = (complete: Omit<Extract<Event, { type: "execute_complete" }>, "type">): AgUiEvent | undefined =>
		project([...begin, { type: "execute_complete", ...complete }]).at(-1);
	const status = "awaiting_tool_execution";
	expect(end({ status: "completed" })).toMatchObject({ outcome: { type: "success" } });
	expect(end({ status: "completed" })).not.toHaveProperty("result");
	expect(end({ status: "completed", stopReason: "length" })).toMatchObject({
		result: { stopReason: "length" },
	});
	expect(end({ status: "aborted" })).toMatchObject({ outcome: { type: "cancelled" } });
	expect(end({ status, pendingToolCalls: [toolCall] })).toMatchObject({
		outcome: { type: "success", pendingToolCallIds: ["c"] },
	});
	expect(end({ status, pendingToolCalls: [{ ...toolCall, approval: true }] })).toMatchObject({
		outcome: { type: "interrupt", interrupts: [{ id: "c", toolCallId: "c" }] },
	});
	expect(end({ status: "error", error: { code: "boom", message: "It broke." } })).toEqual({
		type: "RUN_ERROR",
		code: "boom",
		message: "It broke.",
	});
});
