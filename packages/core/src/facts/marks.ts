// Boundaries of turns and steps have no commit of their own: they are marks on the run's next commit, a fact or a chunk,
// and readers emit them before it. A reader never guesses them (for older journals, see supply-marks.ts).
import { emptyUsage } from "@holdfast/upp";
import type { EventPlace } from "./event-id.ts";
import type { BoundaryEvent } from "./events.ts";
import type { BoundaryMark, Fact } from "./fact.ts";
import type { SessionState } from "./session-state.ts";

/** Returns the boundary of a mark, given the state after the preceding entry. */
export function boundaryOf(
	type: BoundaryMark,
	{ seq, sub }: Pick<EventPlace, "seq" | "sub">,
	{ run }: SessionState,
): BoundaryEvent {
	const { step = 0, usage = emptyUsage() } = run ?? {};
	switch (type) {
		case "turn_start":
			return { type, seq, sub };
		case "step_start":
			return { type, seq, sub, step: step + 1 };
		case "step_end":
			return { type, seq, sub, step, usage };
	}
}

const none: readonly BoundaryMark[] = Object.freeze([]);

/** Boundaries that were emitted and wait for the next commit. */
export class PendingMarks {
	#marks = none;

	add(mark: BoundaryMark): void {
		this.#marks = followedBy(this.#marks, mark);
	}

	/** Puts the marks back after their commit failed. */
	putBack(marks: readonly BoundaryMark[]): void {
		for (const mark of marks) this.add(mark);
	}

	/** Takes the waiting marks, which the commit now contains. */
	take(): readonly BoundaryMark[] {
		const marks = this.#marks;
		this.#marks = none;
		return marks;
	}
}

/** Lists with at most this many marks are shared. There are few such lists, and hardly any fact has more marks. */
const mostShared = 3;
type Followers = Partial<Record<BoundaryMark, readonly BoundaryMark[]>>;
/** The shared lists of marks, by their prefix: facts are kept in memory, and most steps have the same marks. */
const shared = new Map<readonly BoundaryMark[], Followers>();

/** Returns a list with one more mark; short equal lists are the same object. */
function followedBy(marks: readonly BoundaryMark[], mark: BoundaryMark): readonly BoundaryMark[] {
	if (marks.length >= mostShared) return [...marks, mark];
	const followers = shared.get(marks) ?? {};
	if (followers[mark] !== undefined) return followers[mark];
	const list = Object.freeze([...marks, mark]);
	shared.set(marks, { ...followers, [mark]: list });
	return list;
}

/**
 * Returns the facts of one commit, with the boundaries since the last commit on the first of them. The start or resume of
 * a run always has marks, even if empty: they show a reader that boundaries are recorded from there on.
 */
export function withMarks(facts: readonly Fact[], marks: readonly BoundaryMark[]): readonly Fact[] {
	const [first] = facts;
	if (first === undefined || (marks.length === 0 && !beginsMarks(first))) return facts;
	const marked: Fact[] = [{ ...first, marks }];
	for (let at = 1; at < facts.length; at++) marked.push(facts[at] as Fact);
	return marked;
}

/** Whether a fact determines if later boundaries are recorded. */
export function beginsMarks({ kind }: Fact): boolean {
	return kind === "run.started" || kind === "run.resumed";
}

const letters: Readonly<Record<BoundaryMark, string>> = { turn_start: "t", step_start: "s", step_end: "e" };
/** The shared lists by their stored text. */
const decoded = new Map<string, readonly BoundaryMark[]>();
const byLetter = new Map(Object.entries(letters).map(([mark, letter]) => [letter, mark as BoundaryMark]));

/** Encodes marks for storage. They occur in every step, so the encoding is short. */
export function encodeMarks(marks: readonly BoundaryMark[]): string {
	let text = "";
	for (const mark of marks) text += letters[mark];
	return text;
}

/** Decodes marks. Ignores unknown marks of later releases. */
export function decodeMarks(text: string): readonly BoundaryMark[] {
	const known = decoded.get(text);
	if (known !== undefined) return known;
	const given = [...text].flatMap((letter) => byLetter.get(letter) ?? []);
	const marks = given.reduce(followedBy, none);
	if (marks.length === text.length && marks.length <= mostShared) decoded.set(text, marks);
	return marks;
}
