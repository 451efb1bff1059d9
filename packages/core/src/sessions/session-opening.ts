// Taking a session up: it is ours, its state known and its turns in order, or it is another's to go on with (keeps I4).
import { AgentRun } from "./agent-run.ts";
import { startedElsewhere } from "./session-errors.ts";
import type { SessionWorker } from "./session-worker.ts";
import { storedMessage } from "./turn-queue.ts";

/** Milliseconds that another living worker has for starting a turn of its own that stands before ours. */
const yieldsFor = 2_000;

export class SessionOpening {
	readonly #worker: SessionWorker;
	/** The input of another worker that went before ours last, and since when it may. */
	#yielded: { readonly inputId: string; readonly since: number } | undefined;

	constructor(worker: SessionWorker) {
		this.#worker = worker;
	}

	/** `held`: another living worker works on it; `others-first`: the turn before ours is another worker's to start. */
	async open(): Promise<"ours" | "held" | "others-first"> {
		const { agent, key, hold, queue, table } = this.#worker;
		const lease = hold.lease ?? (await hold.take());
		if (lease === undefined) {
			this.#yielded = undefined; // nobody can start a turn now, so nobody takes too long
			return "held";
		}
		const { openRunId } = hold;
		// A parked run is not claimed before it is released.
		const isParked = hold.state.run?.parked !== undefined;
		if (openRunId !== undefined && !isParked && (await table.records?.take(openRunId)) === false) {
			hold.drop();
			return "held";
		}
		const { stored } = queue;
		const reading = lease.inbox();
		const inbox = reading instanceof Promise ? await reading : reading;
		const aligning = queue.align(inbox, stored, openRunId, (input) => {
			const runId = input.kind === "message" ? input.runId : undefined;
			const run = new AgentRun(runId ?? agent.ports.ids.uuid(), key);
			run.letGo();
			return { run, input: storedMessage(input), inputId: input.id, isAdopted: true, place: "stored" };
		});
		const { gone, ahead } = aligning instanceof Promise ? await aligning : aligning;
		for (const { run } of gone) run.neverStarted("lease_lost", startedElsewhere(key), hold.state.agent);
		return ahead !== undefined && hold.openRunId === undefined && this.#yields(ahead)
			? "others-first"
			: "ours";
	}

	/** Whether to let another worker start the turn that was accepted before ours. It may take its time, within limits. */
	#yields(inputId: string): boolean {
		const now = this.#worker.agent.ports.clock.monotonic();
		if (this.#yielded?.inputId !== inputId) this.#yielded = { inputId, since: now };
		return now - this.#yielded.since < yieldsFor;
	}
}
