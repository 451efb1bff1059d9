import { type AssistantContent, AssistantMessage, type LLMResponse, type StreamEvent } from "@holdfast/upp";
import fc from "fast-check";
import { expect, test } from "vitest";
import { modelOf } from "../agent/agent.fixture.ts";
import { memoryHost } from "../host/memory-host.ts";
import type { AnyTool } from "../tools/types.ts";
import { createSession, execute, type PromptOptions } from "./create-session.ts";
import { faultsOf, joined, locate, messagesIn, says } from "./execute.fixture.ts";
import type { ExecuteEvent } from "./execute-event.ts";
import type { ToolAnswerMessage } from "./read-input.ts";
import { followLog } from "./session-log.ts";
import { SessionView } from "./session-view.ts";

interface Reply {
	readonly blocks: readonly { readonly kind: "text" | "reasoning"; readonly pieces: readonly string[] }[];
	readonly calls: readonly { readonly tool: string; readonly given: Record<string, unknown> }[];
	/** Whether blocks and calls are interleaved, in sequence, or only part of the whole answer. */
	readonly order: "by turns" | "in order" | "whole";
	readonly ending: "whole" | "fails" | "filtered" | "length";
}

/** What happens to a session: a user sends a message and may abort, and pending calls are answered in these batches. */
interface Doing {
	readonly abortAt: number | undefined;
	readonly batches: readonly number[];
}

const quick: AnyTool = {
	name: "quick",
	description: "Is quick.",
	parameters: { type: "object" },
	execute: async (_id: string, given: unknown) => ({ output: "quick", details: given }),
};
const streams: AnyTool = {
	...quick,
	name: "streams",
	async *execute(id: string) {
		yield { type: "delta", delta: "one " };
		yield { type: "delta", delta: "two" };
		yield { type: "complete", output: { of: id } };
	},
};
const fails: AnyTool = { ...quick, name: "fails", execute: () => Promise.reject(new Error("no luck")) };
const tools = [quick, streams, fails, locate];

const replies: fc.Arbitrary<Reply> = fc.record({
	blocks: fc.array(
		fc.record({
			kind: fc.constantFrom("text", "reasoning"),
			pieces: fc.array(fc.string({ maxLength: 4 }), { minLength: 1, maxLength: 3 }),
		}),
		{ maxLength: 3 },
	),
	calls: fc.array(
		fc.record({
			tool: fc.constantFrom("quick", "streams", "fails", "locate", "locate", "unknown"),
			given: fc
				.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 })
				.map((given) => JSON.parse(JSON.stringify(given)) as Record<string, unknown>)
				.filter((given) => given.of === undefined),
		}),
		{ maxLength: 3 },
	),
	order: fc.constantFrom("by turns", "in order", "whole"),
	ending: fc.constantFrom("whole", "whole", "whole", "whole", "fails", "filtered", "length"),
});

const doings: fc.Arbitrary<Doing> = fc.record({
	abortAt: fc.option(fc.nat({ max: 25 }), { nil: undefined, freq: 2 }),
	batches: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }),
});

/** The sequences of deltas of a reply, each in order. */
function rowsOf({ blocks, calls }: Reply, number: number): StreamEvent[][] {
	const said = blocks.map(({ kind, pieces }, index) =>
		pieces.map((text): StreamEvent => ({ type: `${kind}_delta`, index, delta: { text } })),
	);
	const asked = calls.map(({ tool, given }, index) => {
		const raw = JSON.stringify(given);
		const toolCallId = `${number}.${index}`;
		return [raw.slice(0, 3), raw.slice(3)].map(
			(argumentsJson, piece): StreamEvent => ({
				type: "tool_call_delta",
				index,
				delta: { toolCallId, ...(piece === 0 ? { toolName: tool } : {}), argumentsJson },
			}),
		);
	});
	return [...said, ...asked];
}

function eventsOf(reply: Reply, number: number): StreamEvent[] {
	const rows = rowsOf(reply, number);
	if (reply.order === "whole") return [];
	if (reply.order === "in order") return rows.flat();
	const events: StreamEvent[] = [];
	for (let at = 0; rows.some((row) => row.length > at); at++)
		events.push(...rows.flatMap((row) => row.slice(at, at + 1)));
	return events;
}

function responseOf(reply: Reply, number: number): LLMResponse {
	const content = reply.blocks.map(
		({ kind, pieces }): AssistantContent => ({ type: kind, text: pieces.join("") }),
	);
	const calls = reply.calls.map(({ tool, given }, index) => ({
		toolCallId: `${number}.${index}`,
		toolName: tool,
		arguments: given,
	}));
	const stopReason =
		reply.ending === "filtered"
			? "content_filter"
			: reply.ending === "length"
				? "length"
				: calls.length > 0
					? "tool_calls"
					: "stop";
	return {
		message: new AssistantMessage(content, calls.length === 0 ? undefined : calls),
		usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 },
		stopReason,
	};
}

/** A model that streams the replies one after the other, and then finishes. */
function playing(script: readonly Reply[]) {
	let calls = 0;
	return modelOf({
		stream({ signal }) {
			const number = calls++;
			const reply = script[number] ?? {
				blocks: [{ kind: "text", pieces: ["done"] }],
				calls: [],
				order: "in order",
				ending: "whole",
			};
			const response = Promise.withResolvers<LLMResponse>();
			response.promise.catch(() => {});
			return {
				response: response.promise,
				async *[Symbol.asyncIterator]() {
					try {
						for (const event of eventsOf(reply as Reply, number)) {
							signal?.throwIfAborted();
							yield event;
						}
						if (reply.ending === "fails") throw new Error("broken");
						response.resolve(responseOf(reply as Reply, number));
					} catch (error) {
						response.reject(error);
						throw error;
					}
				},
			};
		},
	});
}

/** Splits a stream into executions: two if one was interrupted as it began to wait. */
function rowsIn(events: readonly ExecuteEvent[]): readonly (readonly ExecuteEvent[])[] {
	const at = events.findLastIndex(({ type }) => type === "session_start");
	return at <= 0 ? [events] : [events.slice(0, at), events.slice(at)];
}

test("for any models, tools and users, events follow the grammar, and every source has the same ones [API-002, API-004, API-012]", async () => {
	const seen = { executions: 0, aborted: 0, error: 0, awaiting_tool_execution: 0, completed: 0 };
	await fc.assert(
		fc.asyncProperty(
			fc.array(replies, { minLength: 1, maxLength: 6 }),
			fc.array(doings, { minLength: 1, maxLength: 3 }),
			fc.constantFrom(2, 1_000),
			async (script, doing, bufferLimit) => {
				const host = memoryHost();
				const prices = { "made-up": { input: 1, output: 1 } };
				const options = {
					model: playing(script),
					host,
					prices,
					bufferLimit,
					keepDeltasMs: 1_000,
				} as PromptOptions;
				const session = createSession("s", { tools }, options);
				const live: ExecuteEvent[] = [];
				let cost = 0;

				async function once(input: Parameters<typeof execute>[1], abortAt?: number) {
					const stop = new AbortController();
					const before = session.messages;
					const stream = execute(session, input, { signal: stop.signal });
					const events: ExecuteEvent[] = [];
					for await (const event of stream) if (events.push(event) === abortAt) stop.abort();
					const result = await stream.result();
					for (const row of rowsIn(events)) expect(faultsOf(row)).toEqual([]);
					for (const event of events) expect(JSON.parse(JSON.stringify(event))).toStrictEqual(event);
					expect(result.messages).toEqual(messagesIn(events));
					expect(session.messages).toEqual([...before, ...result.messages]);
					expect(session.status).toBe(result.status);
					expect(session.pendingToolCalls).toEqual(result.pendingToolCalls);
					cost += result.cost;
					expect(session.totalCost).toBeCloseTo(cost, 10);
					live.push(...events);
					seen.executions++;
					seen[result.status]++;
					return result;
				}

				for (const { abortAt, batches } of doing) {
					let result = await once(says("go"), abortAt);
					for (let at = 0; result.pendingToolCalls !== undefined; at++) {
						const batch = result.pendingToolCalls.slice(0, batches[at] ?? 9).map(
							({ id }): ToolAnswerMessage => ({
								role: "tool",
								toolCallId: id,
								output: { at },
								isError: at % 2 === 1,
							}),
						);
						result = await once(batch, at === 1 ? abortAt : undefined);
					}
				}

				const logged: ExecuteEvent[] = [];
				for await (const batch of followLog(host.journal, "s", "s"))
					for (const { event } of batch) if (event.type !== "execute_complete") logged.push(event);
				expect(joined(logged)).toEqual(joined(live));
				const view = new SessionView(host.journal, "s", async () => []);
				await Promise.all([view.refresh(), view.refresh()]);
				expect(view.messages).toEqual(session.messages);
				expect(view.totalCost).toBeCloseTo(cost, 10);
				const again = createSession("s", { tools }, options);
				await again.ready;
				expect(again.messages).toEqual(session.messages);
				expect(again.status).toBe(session.status);
			},
		),
		{ numRuns: 300 },
	);
	for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);
});
