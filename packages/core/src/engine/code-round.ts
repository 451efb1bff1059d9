// The tool calls of code that drives a run itself. There is one round at a time, and calls are added to it while others
// are open (keeps I3, I8). The round runs alongside other work of the code; only the code determines when the run ends.
import { type ToolCall, UPPError } from "@holdfast/upp";
import { type Fact, type PendingWait, type ToolsRequested, waitOf } from "../facts/index.ts";
import { settledFact, subagentCancelled } from "./call-facts.ts";
import { CallIds } from "./call-ids.ts";
import { cutShort, roundName } from "./carry-out-calls.ts";
import { withReadableArguments } from "./deep-arguments.ts";
import { commit, stepOf } from "./end-run.ts";
import type { Run } from "./run.ts";
import { Waits } from "./stopped.ts";
import { ToolRound } from "./tool-round.ts";
import { isTooLarge } from "./unwritable.ts";

/** The tag of the requests. */
const tag = "code";
const unneeded = "The call was cancelled: the code ended without it.";

export class CodeRound {
	readonly #run: Run;
	readonly #changed: () => void;
	#round: ToolRound | undefined;
	/** The round whose end is followed. */
	#followed: ToolRound | undefined;
	#failure: { readonly error: unknown } | undefined;
	/** Ends running calls when the code has ended. */
	readonly #ends = new AbortController();

	/** `changed` is called when calls have progressed. */
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
		return this.#round !== undefined && (this.#round.isUnderWay || !this.#round.isRecorded);
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

	/**
	 * Starts calls. The facts in `before` share their first append. If the store refuses it because of its size, none of
	 * the calls was made, and the error is thrown.
	 */
	async add(given: readonly ToolCall[], before: readonly Fact[]): Promise<void> {
		const run = this.#run;
		const calls = new CallIds(run).named(given.map(withReadableArguments), run.agent.decider.name);
		const asked: ToolsRequested = { kind: "tools.requested", step: stepOf(run), tag, calls, continues: true };
		const fresh = (await run.admission?.prepare(asked)) ?? asked;
		const open = this.#round;
		// A round whose calls all have their results accepts no others.
		const isOpen = this.isOpen && open !== undefined && !open.isOver;
		if (isOpen) open.add(fresh.calls.map((call) => ({ call })));
		else this.#round = this.#newRound(fresh.calls, fresh);
		try {
			await this.#begin([...before, fresh]);
		} catch (error) {
			if (isTooLarge(error)) {
				if (isOpen) open.remove(fresh.calls);
				this.#round = open;
			}
			throw error;
		}
	}

	/** Makes the waiting calls answerable while the code continues with something else. */
	async show(): Promise<void> {
		await this.#round?.showWaiting();
	}

	/** Cancels a call of a sub-agent. Does nothing if it has its result. */
	async cancel(toolCallId: string): Promise<void> {
		const each = this.#round?.callOf(toolCallId);
		if (each === undefined) return;
		const reason = subagentCancelled(each.call);
		// A call that is still being checked starts with a signal that has fired.
		each.cancelling ??= new AbortController();
		each.cancelling.abort(reason);
		if (each.phase !== "pending") return;
		await each.child?.end();
		const result = { outcome: "cancelled", result: reason.message } as const;
		await this.#round?.answered([settledFact(this.#run, stepOf(this.#run), each, result, undefined)]);
	}

	#newRound(added: readonly ToolCall[] = [], asked?: ToolsRequested): ToolRound {
		const run = this.#run;
		const open = run.state.run;
		const states = this.isOpen && open !== undefined ? open.calls.list : [];
		const name = roundName(open, asked);
		const calls = [...states, ...added.map((call) => ({ call }))];
		return new ToolRound(run, stepOf(run), name, calls, { moved: this.#changed, ends: this.#ends.signal });
	}

	async #begin(asked: readonly Fact[]): Promise<void> {
		const round = this.#round as ToolRound;
		await round.begin(asked);
		if (round === this.#followed) return;
		this.#followed = round;
		void (async () => round.finished())().then(
			() => this.#changed(),
			(error: unknown) => {
				if (round === this.#round) this.#failure = { error };
				this.#changed();
			},
		);
	}

	/**
	 * Leaves the run to outside answers, and to the wait of the code if it has one. Returns if the inbox already has
	 * something for the run.
	 */
	async leave(given: PendingWait | undefined): Promise<void> {
		const run = this.#run;
		const left = this.#round?.waiting ?? { calls: [] };
		const wait = given && sooner(given, waitOf(left));
		const waiting = { kind: "waiting", step: stepOf(run), ...left, ...(wait && { wait }) } as const;
		if (run.stopReason !== undefined) throw new Waits([waiting]);
		const round = this.#round;
		// Answers that arrive now are recorded after the wait, or once it is known that the run does not wait.
		const decided = undecided(round);
		if (await run.commit([waiting], { onlyIfNothingWaits: true })) throw new Waits([]);
		decided();
		run.round = round;
		const isAnswered = (await run.answers?.take(run, { ...waiting, kind: "tools.pending" })) === true;
		await run.inputs.fetch();
		if (!isAnswered && !run.inputs.any) throw new Waits([waiting]);
	}

	/** Ends the calls of a run that was stopped or has failed. Returns how the run ends or is left. */
	async cutShort(error: unknown): Promise<unknown> {
		const round = this.#round;
		if (round === undefined || !this.isOpen) return error;
		return cutShort(this.#run, { round, step: stepOf(this.#run), fresh: undefined, asked: [] }, error);
	}

	/** Ends the open calls when the code has ended. */
	async close(): Promise<void> {
		const round = this.#round;
		if (round === undefined || !this.isOpen) return;
		await round.endChildren();
		const decided = undecided(round);
		await commit(this.#run, round.close("cancelled", unneeded));
		decided();
		this.#ends.abort(new UPPError(unneeded, "CANCELLED", "holdfast", "llm"));
	}
}

/** From now on, it is undecided whether the calls of the round stay open, until the returned function is called. */
function undecided(round: ToolRound | undefined): () => void {
	if (round === undefined) return () => {};
	const { promise, resolve } = Promise.withResolvers<void>();
	round.undecided = promise;
	return () => {
		round.undecided = undefined;
		resolve();
	};
}

/** The wait of the code, or that of a sub-agent if it ends first. */
function sooner(own: PendingWait, below: PendingWait | undefined): PendingWait {
	const { until = Number.POSITIVE_INFINITY } = own;
	return below?.until !== undefined && below.until < until ? { tag: below.tag, until: below.until } : own;
}
