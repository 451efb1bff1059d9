// Boundaries of turns and steps have no commit of their own: they are marks on what a run commits next, a fact or a chunk,
// and whoever reads emits them before it. A reader never guesses (older journals: supply-marks.ts).
import { emptyUsage } from "@holdfast/upp";
import type { EventPlace } from "./event-id.ts";
import type { BoundaryEvent } from "./events.ts";
import type { BoundaryMark, Fact } from "./fact.ts";
import type { SessionState } from "./session-state.ts";

/** The mark of a boundary. */
export function markOf(event: BoundaryEvent): BoundaryMark {
	return event.type === "turn_start" ? { type: event.type } : { type: event.type, step: event.step };
}

/** The boundary of a mark, given the state after the entry before it. */
export function boundaryOf(
	mark: BoundaryMark,
	{ seq, sub }: Pick<EventPlace, "seq" | "sub">,
	state: SessionState | undefined,
): BoundaryEvent {
	if (mark.type !== "step_end") return { ...mark, seq, sub };
	return { ...mark, seq, sub, usage: state?.run?.usage ?? emptyUsage() };
}

/**
 * The facts of one commit, the first of them with the boundaries emitted since the last commit. The start or resume of a
 * run always has marks, if only none: so a reader knows that from there on boundaries are on record.
 */
export function withMarks(facts: readonly Fact[], marks: readonly BoundaryMark[]): readonly Fact[] {
	const [first, ...others] = facts;
	if (first === undefined || (marks.length === 0 && !beginsMarks(first))) return facts;
	return [{ ...first, marks }, ...others];
}

/** Whether a fact says if the boundaries from there on are on record. */
export function beginsMarks({ kind }: Fact): boolean {
	return kind === "run.started" || kind === "run.resumed";
}
