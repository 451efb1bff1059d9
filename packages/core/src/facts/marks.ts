// Boundaries of turns and steps have no commit of their own: they are marks on the run's next commit, a fact or a chunk,
// and readers emit them before it. A reader never guesses (older journals: supply-marks.ts).
import { emptyUsage } from "@holdfast/upp";
import type { EventPlace } from "./event-id.ts";
import type { BoundaryEvent } from "./events.ts";
import type { BoundaryMark, Fact } from "./fact.ts";
import type { SessionState } from "./session-state.ts";

/** The boundary of a mark, given the state after the entry before it. */
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

/** Boundaries that were emitted and wait for something to be committed with. */
export class PendingMarks {
	#marks = none;

	add(mark: BoundaryMark): void {
		this.#marks = followedBy(this.#marks, mark);
	}

	/** The commit with these marks failed: they wait again. */
	putBack(marks: readonly BoundaryMark[]): void {
		for (const mark of marks) this.add(mark);
	}

	/** The waiting marks, which the commit now contains. */
	take(): readonly BoundaryMark[] {
		const marks = this.#marks;
		this.#marks = none;
		return marks;
	}
}

/** Lists with at most this many marks are shared: there are few of them, and hardly any fact has more. */
const mostShared = 3;
type Followers = Partial<Record<BoundaryMark, readonly BoundaryMark[]>>;
/** The few lists of marks, by their prefix: facts are kept, and most steps have the same. */
const shared = new Map<readonly BoundaryMark[], Followers>();

/** A list with one more mark: the same list for the same few marks. */
function followedBy(marks: readonly BoundaryMark[], mark: BoundaryMark): readonly BoundaryMark[] {
	if (marks.length >= mostShared) return [...marks, mark];
	const followers = shared.get(marks) ?? {};
	if (followers[mark] !== undefined) return followers[mark];
	const list = Object.freeze([...marks, mark]);
	shared.set(marks, { ...followers, [mark]: list });
	return list;
}

/**
 * The facts of one commit, the first of them with the boundaries emitted since the last commit. The start or resume of a
 * run always has marks, even if empty: a reader knows from them that boundaries are recorded from there on.
 */
export function withMarks(facts: readonly Fact[], marks: readonly BoundaryMark[]): readonly Fact[] {
	const [first] = facts;
	if (first === undefined || (marks.length === 0 && !beginsMarks(first))) return facts;
	const marked: Fact[] = [{ ...first, marks }];
	for (let at = 1; at < facts.length; at++) marked.push(facts[at] as Fact);
	return marked;
}

/** Whether a fact declares if later boundaries are recorded. */
export function beginsMarks({ kind }: Fact): boolean {
	return kind === "run.started" || kind === "run.resumed";
}

const letters: Readonly<Record<BoundaryMark, string>> = { turn_start: "t", step_start: "s", step_end: "e" };
/** The same lists by their stored text. */
const decoded = new Map<string, readonly BoundaryMark[]>();
const byLetter = new Map(Object.entries(letters).map(([mark, letter]) => [letter, mark as BoundaryMark]));

/** The stored form of marks: they occur in every step, so they are short. */
export function encodeMarks(marks: readonly BoundaryMark[]): string {
	let text = "";
	for (const mark of marks) text += letters[mark];
	return text;
}

/** Decodes marks; unknown ones of later releases are left out. */
export function decodeMarks(text: string): readonly BoundaryMark[] {
	const known = decoded.get(text);
	if (known !== undefined) return known;
	const given = [...text].flatMap((letter) => byLetter.get(letter) ?? []);
	const marks = given.reduce(followedBy, none);
	if (marks.length === text.length && marks.length <= mostShared) decoded.set(text, marks);
	return marks;
}
