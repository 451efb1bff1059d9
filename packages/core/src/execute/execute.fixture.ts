// Shared by the tests of executions: reading streams to their end, finding faults in event sequences, models that stream
// what a test scripts, and small tools.
import { isDeepStrictEqual } from "node:util";
import type { ScriptedModel } from "@holdfast/testing";
import { type LLMResponse, type ModelReference, type StreamEvent, ToolResultMessage } from "@holdfast/upp";
import { modelOf } from "../agent/agent.fixture.ts";
import type { AnyTool } from "../tools/types.ts";
import type { ExecuteEvent } from "./execute-event.ts";
import type { ExecuteResult, ExecuteStream } from "./execute-stream.ts";
import type { SessionMessage } from "./session-message.ts";

/** A tool whose function runs elsewhere. */
export const locate = {
	name: "locate",
	label: "Locate",
	description: "Where somebody is.",
	parameters: { type: "object", properties: { of: { type: "string" } } },
} satisfies AnyTool;

/** A call of that tool. */
export const asks = (id: string) => ({ name: "locate", id, arguments: { of: id } });

/** The result of that tool. */
export const toolResult = (toolCallId: string, output: unknown = `at ${toolCallId}`) =>
	({ role: "tool", toolCallId, output }) as const;

/** A user's message. */
export const says = (content: string) => ({ role: "user", content }) as const;

export async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
	const events: T[] = [];
	for await (const event of stream) events.push(event);
	return events;
}

/** Returns all events of an execution, and its result. */
export async function played(
	stream: ExecuteStream,
): Promise<{ readonly events: readonly ExecuteEvent[]; readonly result: ExecuteResult }> {
	return { events: await all(stream), result: await stream.result() };
}

export function types(events: readonly { readonly type: string }[]): string[] {
	return events.map(({ type }) => type);
}

/** Events of one type. */
export function only<T extends ExecuteEvent["type"]>(
	events: readonly ExecuteEvent[],
	type: T,
): Extract<ExecuteEvent, { type: T }>[] {
	return events.filter((event) => event.type === type) as Extract<ExecuteEvent, { type: T }>[];
}

/** Returns the messages that the events contain. */
export function messagesIn(events: readonly ExecuteEvent[]): SessionMessage[] {
	return only(events, "message_end").map(({ message }) => message);
}

/** Returns the error code with which a stream was refused. */
export async function refusal(stream: ExecuteStream): Promise<string | undefined> {
	const codes = await Promise.all(
		[all(stream), stream.result()].map((each) =>
			each.then(
				() => "accepted",
				({ code }: { code: string }) => code,
			),
		),
	);
	return codes[0] === codes[1] ? codes[0] : codes.join(" and ");
}

/** Returns the results that the model received last. */
export function shownLast({ requests }: ScriptedModel): unknown {
	const last = requests.at(-1)?.messages.at(-1);
	return last instanceof ToolResultMessage ? last.results : undefined;
}

/** A model that streams its answers exactly as given, one for each call. */
export function streamingModel(
	answers: readonly {
		readonly events: readonly StreamEvent[] | AsyncIterable<StreamEvent>;
		readonly response: LLMResponse | Error;
	}[],
): ModelReference {
	let calls = 0;
	return modelOf({
		stream() {
			const { events, response } = answers[calls++] ?? { events: [], response: new Error("no answer") };
			const settled = Promise.withResolvers<LLMResponse>();
			settled.promise.catch(() => {});
			return {
				response: settled.promise,
				async *[Symbol.asyncIterator]() {
					yield* events;
					if (response instanceof Error) {
						settled.reject(response);
						throw response;
					}
					settled.resolve(response);
				},
			};
		},
	});
}

/** Joins emitted pieces, so that sequences with different pieces are equal. */
export function joined<T extends { readonly type: string }>(events: readonly T[]): T[] {
	const rows: T[] = [];
	for (const event of events) {
		const last = rows.at(-1) as Record<string, unknown> | undefined;
		const next = event as Record<string, unknown>;
		const isMore =
			"delta" in next &&
			last !== undefined &&
			["type", "index", "toolCallId"].every((name) => last[name] === next[name]);
		if (isMore) rows[rows.length - 1] = { ...event, delta: `${last.delta}${next.delta}` };
		else rows.push(event);
	}
	return rows;
}

/** Returns the violations of the execution grammar in the events of one execution; empty if it is valid. */
export function faultsOf(events: readonly ExecuteEvent[]): string[] {
	const faults: string[] = [];
	const wrong = (at: number, what: string): void => void faults.push(`${at} ${events[at]?.type}: ${what}`);
	let role: string | undefined;
	let block: { readonly kind: "text" | "thinking"; text: string } | undefined;
	let calls: { raw: string; ended: boolean }[] = [];
	const running = new Map<string, "runs" | "ended">();
	for (const [at, event] of events.entries()) {
		if (!isDeepStrictEqual(JSON.parse(JSON.stringify(event)), event)) wrong(at, "is not plain JSON");
		if ((event.type === "session_start") !== (at === 0)) wrong(at, "the first event is session_start");
		const isLast = event.type === "session_end" || event.type === "awaiting_tool_execution";
		if (isLast !== (at === events.length - 1)) wrong(at, "the last event ends the row");
		const kind = /^(text|thinking|toolcall)_/.exec(event.type)?.[1];
		if (kind !== undefined && role !== "assistant") wrong(at, `is in a message of role ${role}`);
		if (kind === undefined && role !== undefined && event.type !== "message_end")
			wrong(at, "is inside a message");
		switch (event.type) {
			case "message_start":
				role = event.role;
				calls = [];
				break;
			case "message_end": {
				const isCut =
					role === "assistant" && (event.message.role === "error" || event.message.role === "aborted");
				if (event.message.role !== role && !isCut) wrong(at, `ends a message of role ${role}`);
				if (block !== undefined) wrong(at, "leaves a block open");
				if (!isCut && calls.some(({ ended }) => !ended)) wrong(at, "leaves a call open");
				role = undefined;
				break;
			}
			case "text_start":
			case "thinking_start":
				if (block !== undefined) wrong(at, "is inside a block");
				block = { kind: event.type === "text_start" ? "text" : "thinking", text: "" };
				break;
			case "text_delta":
			case "thinking_delta":
				if (block === undefined || block.kind !== kind) wrong(at, "is outside its block");
				else block.text += event.delta;
				break;
			case "text_end":
			case "thinking_end": {
				const whole = event.type === "text_end" ? event.text : event.thinking;
				if (block === undefined || block.kind !== kind || block.text !== whole)
					wrong(at, "is not what its deltas say");
				block = undefined;
				break;
			}
			case "toolcall_start":
				if (block !== undefined) wrong(at, "is inside a block");
				if (event.index !== calls.length) wrong(at, "has not the next index");
				calls.push({ raw: "", ended: false });
				break;
			case "toolcall_delta": {
				const call = calls[event.index];
				if (call === undefined || call.ended) wrong(at, "is outside its call");
				else call.raw += event.delta;
				break;
			}
			case "toolcall_end": {
				const call = calls[event.index];
				if (call === undefined || call.ended) wrong(at, "ends no call");
				else if (!isDeepStrictEqual(JSON.parse(call.raw), event.toolCall.arguments))
					wrong(at, "has other arguments than its deltas");
				if (call !== undefined) call.ended = true;
				break;
			}
			case "tool_execution_start":
				if (running.has(event.toolCallId)) wrong(at, "started before");
				running.set(event.toolCallId, "runs");
				break;
			case "tool_execution_delta":
			case "tool_execution_end":
				if (running.get(event.toolCallId) !== "runs") wrong(at, "does not run");
				if (event.type === "tool_execution_end") running.set(event.toolCallId, "ended");
				break;
			case "session_end":
				if (!isDeepStrictEqual(event.messages, messagesIn(events)))
					wrong(at, "has other messages than were emitted");
				break;
		}
	}
	return faults;
}
