/**
 * The questions of a conversation about calls. One question at a time is shown; `answer` answers it.
 *
 * quiet ── ask ──▶ asking ── answer ──▶ quiet
 *   both ── refuse, leave ──▶ refusing: each question counts as unanswered, and calls keep waiting
 */
import { effectLines, type Renderer } from "../render/index.ts";
import { oneLine } from "../terminal/index.ts";
import type { PlannedChange } from "../tools/index.ts";
import { Approvals, type Decide, type Decision } from "../work/index.ts";
import { askToApprove, decisionNote } from "./approval-question.ts";
import type { Question, Transcript } from "./chat-transcript.ts";

/** Maximum number of turns whose changes are kept, with the files' earlier texts. */
const MOST_TURNS = 20;

/** The dependencies of the questions. */
export interface AskingParts {
	readonly transcript: Transcript;
	/** Absolute path of the folder that the assistant works in; undefined for a user's agent. */
	readonly dir: string | undefined;
	/** Whether every call may run without approval. */
	readonly yes: boolean;
}

export class Asking {
	readonly approvals: Approvals;
	readonly #transcript: Transcript;
	/** Approved changes, by the turn in which they were approved. */
	#changes: readonly (readonly PlannedChange[])[] = [];
	#answer: ((text: string | undefined) => void) | undefined;
	#isRefusing = false;

	constructor({ transcript, dir, yes }: AskingParts) {
		this.#transcript = transcript;
		const renderer: Renderer = {
			begin() {},
			event() {},
			note: (text) => transcript.note(text, "warning"),
			end() {},
			proposed: (proposal) => transcript.add({ kind: "change", lines: effectLines(proposal) }),
		};
		const options = { yes, approve: [], deny: [], reason: undefined };
		this.approvals = new Approvals({
			dir,
			options,
			renderer,
			decide: (...call) => this.#decide(...call),
			onApproved: (change) => {
				const turn = [...(this.#changes.at(-1) ?? []), change];
				this.#changes = [...this.#changes.slice(0, -1), turn];
			},
		});
	}

	/** Starts another turn. */
	beginTurn(): void {
		this.#changes = [...this.#changes, []].slice(-MOST_TURNS);
	}

	/** Forgets the last turn; returns its changes, the latest first. */
	takeTurn(): readonly PlannedChange[] {
		const last = this.#changes.at(-1) ?? [];
		this.#changes = this.#changes.slice(0, -1);
		return last.toReversed();
	}

	get isOpen(): boolean {
		return this.#answer !== undefined;
	}

	/** Answers the question, if there is one. */
	answer(text: string): void {
		this.#answer?.(text);
	}

	/** Leaves the question, and those that follow, unanswered until `allow`. */
	refuse(): void {
		this.#isRefusing = true;
		this.#answer?.(undefined);
	}

	/** Asks again from now on; returns whether questions were left unanswered. */
	allow(): boolean {
		const wasRefusing = this.#isRefusing;
		this.#isRefusing = false;
		return wasRefusing;
	}

	/** Leaves all questions unanswered. */
	leave(): void {
		this.approvals.interrupt();
		this.#answer?.(undefined);
	}

	async #decide(...[proposal, rule, signal]: Parameters<Decide>): Promise<Decision | undefined> {
		const ask = (question: Question): Promise<string | undefined> => this.#ask(question, signal);
		const note = (text: string): void => this.#transcript.note(text, "warning");
		const decision = await askToApprove(proposal, rule, ask, note);
		const said = decision === undefined ? undefined : decisionNote(decision, rule);
		if (said !== undefined) this.#transcript.note(`${said}: ${oneLine(proposal.title, 60)}`, "quiet");
		return decision;
	}

	async #ask(question: Question, signal: AbortSignal): Promise<string | undefined> {
		if (signal.aborted || this.#isRefusing) return undefined;
		const said = await new Promise<string | undefined>((resolve) => {
			this.#answer = resolve;
			this.#transcript.set({ status: "asking", question });
		});
		this.#answer = undefined;
		this.#transcript.set({ status: "working", question: undefined });
		return said;
	}
}
