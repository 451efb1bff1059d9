// Taking a session up: it is ours, its state known and its turns in order, or it is another's to go on with (keeps I4).
import { AgentRun } from "./agent-run.ts";
import type { SessionAgent } from "./session-agent.ts";
import { startedElsewhere } from "./session-errors.ts";
import type { SessionHold } from "./session-hold.ts";
import type { SessionRecords } from "./session-records.ts";
import { storedMessage, type TurnQueue } from "./turn-queue.ts";

/** Milliseconds that another living worker has for starting a turn of its own that stands before ours. */
const yieldsFor = 2_000;

/** What a session is taken up with. */
export interface OpeningParts {
	readonly agent: SessionAgent;
	readonly key: string;
	readonly hold: SessionHold;
	readonly queue: TurnQueue;
	readonly records: SessionRecords | undefined;
}

export class SessionOpening {
	readonly #parts: OpeningParts;
	/** The input of another worker that went before ours last, and since when it may. */
	#yielded: { readonly inputId: string; readonly since: number } | undefined;

	constructor(parts: OpeningParts) {
		this.#parts = parts;
	}

	/** `held`: another living worker works on it; `others-first`: the turn before ours is another worker's to start. */
	async open(): Promise<"ours" | "held" | "others-first"> {
		const { agent, key, hold, queue, records } = this.#parts;
		const lease = hold.lease ?? (await hold.take());
		if (lease === undefined) {
			this.#yielded = undefined; // nobody can start a turn now, so nobody takes too long
			return "held";
		}
		const { openRunId } = hold;
		// A parked run is not claimed before it is released.
		const isParked = hold.state.run?.parked !== undefined;
		if (openRunId !== undefined && !isParked && (await records?.take(openRunId)) === false) {
			hold.drop();
			return "held";
		}
		const { stored } = queue;
		const reading = lease.inbox();
		const inbox = reading instanceof Promise ? await reading : reading;
		const aligning = queue.align(inbox, stored, openRunId, (input) => {
			const runId = input.kind === "message" ? input.runId : undefined;
			const run = new AgentRun(runId ?? agent.engine.ports.ids.uuid(), key);
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
		const now = this.#parts.agent.engine.ports.clock.monotonic();
		if (this.#yielded?.inputId !== inputId) this.#yielded = { inputId, since: now };
		return now - this.#yielded.since < yieldsFor;
	}
}
