// What the facts of a run mean for its record: which checkpoints they are, and how the run stands after them.
import type { CommittedFact } from "../engine/index.ts";
import type { RunKind } from "../journal/index.ts";
import type { NewCheckpoint } from "./checkpoint.ts";
import type { RunChange, RunStatus } from "./run-record.ts";

type About = Pick<NewCheckpoint, "runId" | "sessionKey" | "at">;

/** The checkpoints at a fact, in order. */
export function checkpointsOf(
	{ seq, fact }: CommittedFact,
	kind: RunKind,
	about: About,
): readonly NewCheckpoint[] {
	switch (fact.kind) {
		case "run.resumed":
			return [{ ...about, phase: "resumed", seq }];
		case "assistant":
			return [{ ...about, phase: "after-model", seq }];
		case "tool.started":
			return [{ ...about, phase: "before-tool", seq, toolCallId: fact.callId }];
		case "tool.settled":
			return [{ ...about, phase: "after-tool", seq, toolCallId: fact.callId }];
		case "waiting":
			return [{ ...about, phase: "suspended", seq, waitsFor: fact.calls }];
		case "note":
			// Left on purpose: it waits for nobody but whoever resumes it.
			return fact.topic === "suspended"
				? [{ ...about, phase: "suspended", seq, waitsFor: [about.runId] }]
				: [];
		case "run.ended":
			return kind === "notification" ? [{ ...about, phase: "after-notification", seq }] : [];
		default:
			return [];
	}
}

/** How the run stands after these facts; undefined when they change nothing. */
export function statusAfter(facts: readonly Pick<CommittedFact, "fact">[]): RunChange | undefined {
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
			case "note":
				if (fact.topic === "suspended") change = { status: "suspended", lease: null };
				break;
			case "run.ended":
				change = {
					status: endings[fact.outcome],
					...(fact.error === undefined ? {} : { error: fact.error }),
				};
		}
	}
	return change;
}

/** The status of a run that ended this way. */
export const endings: Readonly<Record<"completed" | "error" | "aborted" | "killed", RunStatus>> = {
	completed: "completed",
	error: "error",
	aborted: "cancelled",
	killed: "cancelled",
};
