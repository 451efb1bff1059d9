// Derives the checkpoints of a run from its facts, and its status after them.
import type { CommittedFact } from "../engine/index.ts";
import type { RunKind, RunOutcome } from "../facts/index.ts";
import type { RunChange } from "./run-access.ts";
import type { RunPlace } from "./run-checkpoint.ts";
import type { RunStatus } from "./run-record.ts";

type About = Pick<RunPlace, "runId" | "sessionKey" | "at">;

/** Derives the checkpoints of one run from its facts, in order. */
export class CheckpointReader {
	readonly #kind: RunKind;
	/** Calls that have started and have no result. */
	readonly #open = new Set<string>();

	constructor(kind: RunKind) {
		this.#kind = kind;
	}

	/** Returns the checkpoints at a fact. */
	at({ seq, fact }: CommittedFact, about: About): readonly RunPlace[] {
		switch (fact.kind) {
			case "run.resumed":
				return [{ ...about, phase: "resumed", seq }];
			case "assistant":
				return [{ ...about, phase: "after-model", seq }];
			case "tool.started":
				this.#open.add(fact.callId);
				return [{ ...about, phase: "before-tool", seq, toolCallId: fact.callId }];
			case "tool.settled":
				this.#open.delete(fact.callId);
				return [{ ...about, phase: "after-tool", seq, toolCallId: fact.callId }];
			case "waiting":
				// A wait without a call is named after the run.
				return [
					{
						...about,
						phase: "suspended",
						seq,
						waitsFor: fact.wait === undefined ? fact.calls.map(({ callId }) => callId) : [about.runId],
					},
				];
			case "note": {
				if (fact.topic !== "suspended") return [];
				// Without an open call, it only waits to be resumed.
				const waitsFor = this.#open.size === 0 ? [about.runId] : [...this.#open];
				return [{ ...about, phase: "suspended", seq, waitsFor }];
			}
			case "run.parked":
				return [{ ...about, phase: "suspended", seq, waitsFor: [about.runId] }];
			case "run.ended":
				return this.#kind === "notification" ? [{ ...about, phase: "after-notification", seq }] : [];
			case "run.started":
			case "input":
			case "tools.requested":
			case "decision":
			case "tools.pending":
			case "wait.ended":
			case "message.added":
			case "message.updated":
			case "message.deleted":
			case "history.cut":
			case "folded":
				return [];
			default:
				fact satisfies never;
				return [];
		}
	}
}

/** Returns the model's last message after these facts. */
export function saidAfter(facts: readonly Pick<CommittedFact, "fact">[], before: string): string {
	const said = facts.findLast(({ fact }) => fact.kind === "assistant")?.fact;
	return said?.kind === "assistant" ? said.message.text : before;
}

/** Returns the status of the run after these facts, and its output; undefined if they change nothing. */
export function statusAfter(
	facts: readonly Pick<CommittedFact, "fact">[],
	said: string,
): RunChange | undefined {
	let change: RunChange | undefined;
	for (const { fact } of facts) {
		switch (fact.kind) {
			case "run.started":
			case "run.resumed":
			case "input":
				change = { status: "running" };
				break;
			case "waiting":
				change = { status: "suspended", lease: null };
				break;
			case "run.parked":
				change = { status: "needs-recovery", lease: null };
				break;
			case "note":
				if (fact.topic === "suspended") change = { status: "suspended", lease: null };
				break;
			case "run.ended":
				change = {
					status: endings[fact.outcome],
					output: said,
					...(fact.error === undefined ? {} : { error: fact.error }),
				};
				break;
			case "assistant":
			case "tools.requested":
			case "tool.started":
			case "tool.settled":
			case "decision":
			case "tools.pending":
			case "wait.ended":
			case "message.added":
			case "message.updated":
			case "message.deleted":
			case "history.cut":
			case "folded":
				break;
			default:
				fact satisfies never;
				break;
		}
	}
	return change;
}

/** The run status for each outcome. */
export const endings: Readonly<Record<RunOutcome, RunStatus>> = {
	completed: "completed",
	error: "error",
	aborted: "cancelled",
	killed: "cancelled",
};
