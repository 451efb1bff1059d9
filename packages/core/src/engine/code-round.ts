// The tool calls of code that carries out a run itself: one round at a time, to which calls are added while others are
// open (keeps I3, I8). The round runs alongside other work of the code; only the code decides when the run is left.
import type { ToolCall } from "@holdfast/upp";
import type { Fact, PendingWait, ToolsRequested } from "../facts/index.ts";
import { CallIds } from "./call-ids.ts";
import { cutShort, roundName } from "./carry-out-calls.ts";
import { withReadableArguments } from "./deep-arguments.ts";
import { commit, stepOf } from "./end-run.ts";
import type { LeftOver } from "./round-end.ts";
import type { Run } from "./run.ts";
import { Waits } from "./stopped.ts";
import { ToolRound } from "./tool-round.ts";

/** The tag of the requests. */
const tag = "code";

export class CodeRound {
	readonly #run: Run;
	readonly #changed: () => void;
	#round: ToolRound | undefined;
	/** The calls that wait for outside answers, once no other call of the round is under way. */
	#left: LeftOver | undefined;
	#failure: { readonly error: unknown } | undefined;

	/** `changed` is called when calls have settled, or when none of them is under way any longer. */
	constructor(run: Run, changed: () => void) {
		this.#run = run;
		this.#changed = changed;
	}

	/** Whether a call has no result yet. */
	get isOpen(): boolean {
		return (this.#run.state.run?.unsettled ?? 0) > 0;
	}

	/** Whether calls progress without an outside answer. */
	get isUnderWay(): boolean {
		return this.#round !== undefined && this.#left === undefined;
	}

	/** Throws if the round failed: a commit was refused, for example. */
	check(): void {
		if (this.#failure !== undefined) throw this.#failure.error;
	}

	/** Continues the calls that were open when the run was left. */
	async resume(): Promise<void> {
		const run = this.#run;
		if (run.hasAnswers) {
			run.hasAnswers = false;
			await run.answers?.take(run, undefined);
		}
		if (!this.isOpen) return;
		this.#round = this.#newRound();
		await this.#begin([]);
	}

	/** Starts calls. The facts in `before` share their first append. */
	async add(given: readonly ToolCall[], before: readonly Fact[]): Promise<void> {
		const run = this.#run;
		const calls = new CallIds(run).named(given.map(withReadableArguments), run.agent.decider.name);
		const asked: ToolsRequested = { kind: "tools.requested", step: stepOf(run), tag, calls, continues: true };
		const fresh = (await run.admission?.prepare(asked)) ?? asked;
		// A round whose calls all wait accepts no others: another one takes over its calls.
		if (!this.isOpen || this.#round === undefined) this.#round = this.#newRound(fresh.calls, fresh);
		else if (!this.#round.isOver) this.#round.add(fresh.calls);
		else {
			this.#round.abandon();
			this.#round = this.#newRound(fresh.calls);
		}
		await this.#begin([...before, fresh]);
	}

	#newRound(added: readonly ToolCall[] = [], asked?: ToolsRequested): ToolRound {
		const run = this.#run;
		const open = run.state.run;
		const states = this.isOpen ? (open?.calls ?? []) : [];
		const name = roundName(open, asked);
		return new ToolRound(run, stepOf(run), name, [...states, ...added.map((call) => ({ call }))]);
	}

	async #begin(asked: readonly Fact[]): Promise<void> {
		const round = this.#round as ToolRound;
		this.#left = undefined;
		await round.begin(asked);
		this.#follow(round);
	}

	#follow(round: ToolRound): void {
		void (async () => round.finished())().then(
			(left) => this.#ended(round, left),
			(error: unknown) => {
				if (round === this.#round) this.#failure = { error };
				this.#changed();
			},
		);
	}

	#ended(round: ToolRound, left: LeftOver): void {
		if (round !== this.#round) return;
		if (this.isOpen) this.#left = left;
		else this.#round = undefined;
		this.#changed();
	}

	/**
	 * Leaves the run to outside answers, and to the wait of the code. Returns if the inbox already has something for the
	 * run.
	 */
	async leave(wait: PendingWait): Promise<void> {
		const run = this.#run;
		const left = this.#left ?? { calls: [] };
		const waiting = { kind: "waiting", step: stepOf(run), ...left, wait } as const;
		if (run.stopReason !== undefined) throw new Waits([waiting]);
		if (await run.commit([waiting], { onlyIfNothingWaits: true })) throw new Waits([]);
		const isAnswered = (await run.answers?.take(run, { ...waiting, kind: "tools.pending" })) === true;
		await run.inputs.fetch();
		if (isAnswered && this.isOpen) {
			this.#round?.abandon();
			this.#round = this.#newRound();
			await this.#begin([]);
		}
		if (!isAnswered && !run.inputs.any) throw new Waits([waiting]);
	}

	/** Ends the calls of a run that was stopped or has failed. Returns how the run ends or is left. */
	async cutShort(error: unknown): Promise<unknown> {
		const round = this.#round;
		if (round === undefined) return error;
		return cutShort(this.#run, { round, step: stepOf(this.#run), fresh: undefined, asked: [] }, error);
	}

	/** Ends the open calls when the code has ended. */
	async close(): Promise<void> {
		const round = this.#round;
		if (round === undefined || !this.isOpen) return;
		await round.endChildren();
		await commit(this.#run, round.close("cancelled", "The call was cancelled: the code ended without it."));
	}
}
