import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { collect } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { RunEvent } from "../facts/events.ts";
import { joinModelEvents } from "../facts/join-stream-events.ts";
import { memoryHost } from "../host/memory-host.ts";
import type { Delta, Interceptor } from "../policy/interceptor.ts";
import type { AgentRun } from "../sessions/agent-run.ts";
import { loop } from "../strategies/loop.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import type { AnyTool } from "../tools/types.ts";
import { type FollowedEvent, followSession } from "./follow-session.ts";

/** An action on a run after it has emitted this number of events. */
interface Doing {
	readonly at: number;
	readonly what: "steer" | "interrupt" | "suspend";
}

const parameters = { type: "object" as const };
const tools: AnyTool[] = [
	{ name: "quick", description: "Is quick.", parameters, run: () => "quick" },
	{ name: "fails", description: "Fails.", parameters, run: () => Promise.reject(new Error("no luck")) },
	{
		name: "streams",
		description: "Streams.",
		parameters,
		async *run() {
			yield "one ";
			await Promise.resolve();
			yield "two";
		},
	},
	{ name: "remote", description: "Is elsewhere.", parameters },
];

const replies: fc.Arbitrary<ScriptedReply> = fc.record(
	{
		reasoning: fc.constantFrom("hm", "let me think about it"),
		text: fc.constantFrom("", "words and words", "one"),
		toolCalls: fc.array(
			fc.record({ name: fc.constantFrom("quick", "quick", "fails", "streams", "remote", "unknown") }),
			{ maxLength: 3 },
		),
		error: fc.constantFrom(undefined, undefined, undefined, undefined, new Error("broken")),
	},
	{ requiredKeys: [] },
) as fc.Arbitrary<ScriptedReply>;

const doings: fc.Arbitrary<Doing[]> = fc.array(
	fc.record({
		at: fc.nat({ max: 40 }),
		what: fc.constantFrom("steer", "steer", "interrupt", "suspend") as fc.Arbitrary<Doing["what"]>,
	}),
	{ maxLength: 3 },
);

/** A slow policy that notes each call, and releases each piece of output one piece later. */
const slowPolicy: Interceptor = {
	name: "slow",
	admitWaiting: "as-is",
	begin() {
		const held: Delta[] = [];
		return {
			async admit({ kind }) {
				await Promise.resolve();
				return kind === "tool.started" ? { notes: [{ topic: "audit", value: kind }] } : undefined;
			},
			deltas: {
				async push(delta) {
					held.push(delta);
					await Promise.resolve();
					return held.splice(0, held.length - 1);
				},
				flush: () => held.splice(0),
			},
		};
	},
};

/** Events that are emitted when they happen and are not stored. */
const passing: ReadonlySet<RunEvent["type"]> = new Set(["model_retry", "nested", "run_suspended"]);
const deltas: ReadonlySet<RunEvent["type"]> = new Set(["model_start", "model", "tool_delta"]);

/** Returns events in comparable form: deltas joined, and without positions if a piece has its own. */
function comparable(events: readonly RunEvent[], keepsDeltas: boolean): readonly unknown[] {
	const kept = events.filter(({ type }) => !passing.has(type) && (keepsDeltas || !deltas.has(type)));
	const joined: RunEvent[] = [];
	for (const event of kept) {
		const last = joined.at(-1);
		const both = last && join(last, event);
		if (both === undefined) joined.push(event);
		else joined[joined.length - 1] = both;
	}
	return joined.map(({ sub, ...event }) => (sub === 0 ? { ...event, sub } : event));
}

function join(last: RunEvent, next: RunEvent): RunEvent | undefined {
	if (last.type === "model" && next.type === "model") return joinModelEvents(last, next);
	if (last.type !== "tool_delta" || next.type !== "tool_delta") return undefined;
	return last.toolCallId === next.toolCallId ? { ...next, delta: last.delta + next.delta } : undefined;
}

/** The events of a run from one start or resume to the next. */
interface Part {
	readonly runId: string;
	readonly events: RunEvent[];
	readonly isWhole: boolean;
}

function partsOf(events: readonly RunEvent[]): Part[] {
	const parts: Part[] = [];
	for (const event of events) {
		if (event.type === "run_start") parts.push({ runId: event.runId, events: [], isWhole: true });
		parts.at(-1)?.events.push(event);
	}
	return parts;
}

test("watchers of a session see the same events as later readers, from any id on", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(replies, { maxLength: 6 }),
			fc.array(doings, { minLength: 1, maxLength: 2 }),
			fc.constantFrom(loop(), react(), plan()),
			fc.option(fc.constantFrom(1, 50), { nil: undefined }),
			fc.constantFrom([], [], [slowPolicy]),
			fc.array(fc.nat(), { maxLength: 3 }),
			async (script, turns, execution, keepDeltasMs, middleware, cuts) => {
				const host = memoryHost();
				let calls = 0;
				const agent = new Agent({
					model: scriptedModel(() => script[calls++] ?? "done"),
					tools,
					execution,
					middleware,
					host,
					...(keepDeltasMs === undefined ? {} : { keepDeltasMs }),
				});
				const session = agent.session("s");
				const parts: Part[] = [];
				for (const todo of turns) {
					let run: AgentRun | null = await session.send("go");
					for (let isFirst = true; run !== null; isFirst = false) {
						let seen: RunEvent[] = [];
						let count = 0;
						// The first request to stop counts.
						let stop: "interrupt" | "suspend" | undefined;
						parts.push({ runId: run.runId, events: seen, isWhole: isFirst });
						for await (const event of run.watch()) {
							if (event.type === "run_start" && seen.length > 0) {
								// The run was interrupted as it began to wait.
								seen = [];
								parts.push({ runId: run.runId, events: seen, isWhole: true });
							}
							seen.push(event);
							count++;
							for (const { at, what } of isFirst ? todo : []) {
								if (at !== count) continue;
								if (what === "steer") void (await session.steer(`steered at ${at}`)).result();
								else {
									run[what]();
									stop ??= what;
								}
							}
						}
						const { outcome, pending = [] } = await run.result();
						if (outcome === "suspended") run = await session.resume();
						else if (outcome === "waiting" && stop === "interrupt") {
							// The run was already waiting: its end is a separate part.
							const { runId } = run;
							await expect.poll(async () => (await host.journal.head("s"))?.openRunId).not.toBe(runId);
							// What was steered may have become a turn, which waits now or has ended.
							const events = (await collect(followSession(host, "s"))).map(({ event }) => event);
							const ended = events.findLast((event) => event.type === "run_end" && event.runId === runId);
							parts.push({ runId, events: ended === undefined ? [] : [ended], isWhole: false });
							run = null;
						} else if (outcome === "waiting")
							run = await session.answer(
								pending.map(({ toolCallId }) => ({ toolCallId, output: "from outside" })),
							);
						else run = null;
					}
				}
				const read = await collect(followSession(host, "s"));
				const readParts = partsOf(read.map(({ event }) => event));
				// A turn after a waiting run never begins.
				const begun = parts.filter(({ events }) => events.some(({ seq }) => seq > 0));
				for (const runId of new Set(begun.map((part) => part.runId))) {
					const ofRun = readParts.filter((part) => part.runId === runId);
					for (const [index, seen] of begun.filter((part) => part.runId === runId).entries()) {
						const expected = comparable(seen.events, keepDeltasMs !== undefined);
						const found = comparable(ofRun[index]?.events ?? [], true);
						// A caller that receives a continued run may have missed its first events.
						expect(seen.isWhole ? found : found.slice(found.length - expected.length)).toEqual(expected);
					}
					expect(ofRun.length).toBe(begun.filter((part) => part.runId === runId).length);
				}
				expect(new Set(read.map(({ id }) => id)).size).toBe(read.length);
				for (const cut of cuts) {
					const at = cut % read.length;
					const rest: FollowedEvent[] = await collect(
						followSession(host, "s", { after: read[at]?.id as string }),
					);
					expect(rest.slice(0, read.length - at - 1)).toEqual(read.slice(at + 1));
				}
				await agent.close();
			},
		),
		{ numRuns: 300 },
	);
});
