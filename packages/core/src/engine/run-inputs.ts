// Inputs for a run in progress: accepted at any time, and added at the run's boundaries (keeps I1).
import type { Placement } from "../facts/index.ts";
import type { StoredInput } from "../host/index.ts";
import type { Run } from "./run.ts";
import type { Recorder, RunInput, RunOptions } from "./run-options.ts";

export class RunInputs {
	readonly #run: Run;
	readonly #recorder: Recorder;
	readonly #read: RunOptions["readInput"];
	/** Inputs in order, by id. */
	#offered: Map<string, RunInput> | undefined;
	#taken: Set<string> | undefined;
	/** Called when an input is offered. */
	whenOffered: (() => void) | undefined;

	constructor(run: Run, { recorder, readInput }: Pick<RunOptions, "recorder" | "readInput">) {
		this.#run = run;
		this.#recorder = recorder;
		this.#read = readInput;
	}

	/** Whether inputs were offered but not taken yet. */
	get any(): boolean {
		return this.#offered !== undefined;
	}

	took(inputId: string): boolean {
		return this.#taken?.has(inputId) === true;
	}

	/** Offers an input to the run, which takes it at its next boundary. */
	offer(input: RunInput): void {
		const { inputId } = input;
		if (this.took(inputId) || this.#offered?.has(inputId) === true) return;
		this.#offered ??= new Map();
		this.#offered.set(inputId, input);
		this.whenOffered?.();
	}

	/** Adds the offered inputs to the conversation. Returns true if there were any. */
	async take(placement: Placement): Promise<boolean> {
		const offered = this.#offered;
		if (offered === undefined) return false;
		this.#offered = undefined;
		this.#taken ??= new Set();
		const ids = [...offered.keys()];
		for (const inputId of ids) this.#taken.add(inputId);
		try {
			const facts = Array.from(offered.values(), (input) => input.fact(placement));
			await this.#run.commit(facts, { drain: ids });
		} catch (error) {
			// An input that policy refuses stays queued; it is refused again as a turn of its own.
			for (const inputId of ids) this.#taken.delete(inputId);
			throw error;
		}
		return true;
	}

	/** Returns outside answers to the run's calls, in the order in which they were accepted. */
	async answers(): Promise<readonly StoredInput[]> {
		const { runId } = this.#run;
		const inbox = await this.#recorder.inbox();
		return inbox.filter((input) => input.kind === "tool-result" && input.runId === runId);
	}

	/**
	 * Offers everything in the inbox that waits for the run, in order. Answers stay there while calls of the run are open:
	 * they may have arrived since the run last took answers, or be for a sub-agent that cannot take them yet.
	 */
	async fetch(): Promise<void> {
		const run = this.#run;
		const read = this.#read;
		if (read === undefined) return;
		const isOpen = (run.state.run?.unsettled ?? 0) > 0;
		const late: string[] = [];
		for (const input of await this.#recorder.inbox()) {
			if (input.kind === "message" || (input.runId ?? run.runId) !== run.runId) continue;
			if (input.kind !== "tool-result") this.offer(read(input));
			else if (!isOpen) late.push(input.id);
		}
		if (late.length === 0) return;
		// No call is open, so these answers come too late.
		if (run.answers !== undefined) await run.answers.take(run, undefined);
		else await run.commitAsIs([], { drain: late });
	}
}
