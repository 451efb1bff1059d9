// Outside settlements of a waiting run: answers to its calls, their timeout, or the end of the run. They are data for the
// worker that resumes the run (keeps I4).
import { isSameCaller } from "../caller/index.ts";
import type { AcceptedInput, Fact, SessionState, Watcher } from "../facts/index.ts";
import {
	answerFacts,
	dueFacts,
	entriesBack,
	expired,
	inputFact,
	pendingCalls,
	stoppedFacts,
	type ToolAnswer,
} from "../facts/index.ts";
import type { Journal } from "../host/index.ts";
import { pendingToolCalls, sessionBusy } from "./session-errors.ts";

/** How many entries back a late answer is searched for. */
const recentEntries = 1_000;

/** An outside settlement of a waiting run. */
export interface Settlement {
	readonly facts: readonly Fact[];
	readonly afterwards: "continues" | "stops";
	/** Ids of stored inputs that these facts accept. */
	readonly drain?: readonly string[];
	/** Dedupe key of the input that these facts accept, if it was never in an inbox. */
	readonly dedupeKey?: string;
	/** Receives all events from the very beginning. */
	readonly watcher?: Watcher | undefined;
}

/** Computes a settlement from the current state of the session. */
export type Settle = (state: SessionState) => Settlement;

/** Continues the run with these answers. */
export function answered(answers: readonly ToolAnswer[], now: () => number, watcher?: Watcher): Settle {
	return (state) => ({ facts: answerFacts(state, answers, now()), afterwards: "continues", watcher });
}

/** Continues the run because its sub-agents continue. */
export function continued(watcher?: Watcher): Settle {
	return () => ({ facts: [], afterwards: "continues", watcher });
}

/** Records what is due: fails expired calls and ends an elapsed wait. */
export function timedOut(now: () => number): Settle {
	return ({ run }) => ({
		facts: run === undefined ? [] : dueFacts(run, now()),
		afterwards: "continues",
	});
}

/** Continues the run with this input, which its strategy waits for. `stored`: whether the input is in the inbox. */
export function taken(
	input: AcceptedInput,
	{ stage, watcher }: { readonly stage: "new" | "stored"; readonly watcher?: Watcher | undefined },
	notWaiting: () => Error,
): Settle {
	const { id } = input.message;
	return ({ run }) => {
		if (run?.wait === undefined || isOfAnother(run, input)) throw notWaiting();
		const facts = [inputFact(id, input, "step-end")];
		const { dedupeKey } = input;
		const own = stage === "stored" ? { drain: [id] } : dedupeKey === undefined ? {} : { dedupeKey };
		return { facts, afterwards: "continues", watcher, ...own };
	};
}

/** Whether an input comes from a different caller than the run: the run's tools would then act for the wrong caller. */
export function isOfAnother(run: SessionState["run"], { origin }: AcceptedInput): boolean {
	return origin?.caller !== undefined && !isSameCaller(run?.started.caller, origin.caller);
}

/** Whether the run waits for an input of this kind and for nothing else. */
export function awaitsInput(run: SessionState["run"], input: AcceptedInput): boolean {
	return (
		run?.status === "waiting" &&
		run.wait?.until === undefined &&
		run.wait !== undefined &&
		!isOfAnother(run, input)
	);
}

/** Refuses a turn while a run waits for answers to its calls, for a time, or for an input. */
export function refuseWaiting(state: SessionState, sessionKey: string): void {
	if (state.run?.status !== "waiting") return;
	throw pendingCalls(state).length > 0 ? pendingToolCalls(sessionKey) : sessionBusy(sessionKey);
}

/** Ends the run without running any of its tools. */
export const stopped: Settle = ({ run }) => ({
	facts: run === undefined ? [] : stoppedFacts(run),
	afterwards: "stops",
});

/** Whether the error means that no call waits for an answer. */
export function isNotWaiting(error: unknown): boolean {
	return (error as { code?: unknown } | null)?.code === "no_pending_tool_calls";
}

/** Rejects with `tool_result_expired` if an answer came too late, even if its run has continued since. */
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

/** Whether this process continues the run by itself at a certain time. Later turns stay queued until then. */
export function waitsForTime(run: SessionState["run"]): boolean {
	return run?.wait?.until !== undefined;
}
