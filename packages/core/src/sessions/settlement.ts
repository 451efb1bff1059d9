// What comes from outside for a run that waits: answers to its calls, the end of their time, or the end of the run. Data
// for the worker that resumes the run (keeps I4).
import type { Fact, SessionState, Watcher } from "../facts/index.ts";
import {
	answerFacts,
	entriesBack,
	expired,
	expiredFacts,
	stoppedFacts,
	type ToolAnswer,
} from "../facts/index.ts";
import type { Journal } from "../host/index.ts";

/** How far back a late answer is looked for. */
const recentEntries = 1_000;

/** What came from outside for a run that waits. */
export interface Settlement {
	readonly facts: readonly Fact[];
	readonly afterwards: "goes-on" | "stops";
	/** Looks on from the very beginning. */
	readonly watcher?: Watcher | undefined;
}

/** Makes a settlement of what the session has come to. */
export type Settle = (state: SessionState) => Settlement;

/** The run continues with these answers. */
export function answered(answers: readonly ToolAnswer[], now: () => number, watcher?: Watcher): Settle {
	return (state) => ({ facts: answerFacts(state, answers, now()), afterwards: "goes-on", watcher });
}

/** Calls whose time is over have failed. */
export function timedOut(now: () => number): Settle {
	return ({ run }) => ({
		facts: run === undefined ? [] : expiredFacts(run, now()),
		afterwards: "goes-on",
	});
}

/** The run ends, without any of its tools. */
export const stopped: Settle = ({ run }) => ({
	facts: run === undefined ? [] : stoppedFacts(run),
	afterwards: "stops",
});

/** Whether it says that nobody waits for an answer. */
export function isNotWaiting(error: unknown): boolean {
	return (error as { code?: unknown } | null)?.code === "no_pending_tool_calls";
}

/** Rejects with `tool_result_expired` where an answer came too late, also when its run has continued since. */
export async function checkExpired(
	journal: Journal,
	storeKey: string,
	answers: readonly ToolAnswer[],
): Promise<void> {
	const { seq } = (await journal.head(storeKey)) ?? { seq: 0 };
	for await (const { seq: at, fact } of entriesBack(journal, storeKey, seq)) {
		if (at <= seq - recentEntries) return;
		if (fact.kind !== "tool.settled" || fact.outcome !== "expired") continue;
		if (answers.some(({ toolCallId }) => toolCallId === fact.callId)) throw expired(fact.callId);
	}
}
