// The handle of a durable conversation. Light: handles of one key share one worker.
import type { AgentState } from "../state/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { acceptInput, type SendInput } from "./input.ts";
import type { SessionTable } from "./session-table.ts";

/**
 * A durable conversation under a key. What was accepted survives the death of the process; a run that was cut off goes
 * on from its last committed fact.
 *
 * @see keyed sessions, SessionHandle
 */
export class Session {
	readonly key: string;
	readonly #table: SessionTable;

	/** @internal */
	constructor(table: SessionTable, key: string) {
		this.#table = table;
		this.key = key;
	}

	/**
	 * Accepts a turn. Resolves once it is durable; turns of one session run one after the other, in order.
	 *
	 * Rejects with TypeError for an unknown input shape, `journal_failed`, `disk_full`, `agent_closed`.
	 */
	async send(input: SendInput): Promise<AgentRun> {
		return this.#table.worker(this.key).send(acceptInput(input));
	}

	/**
	 * Goes on with a run that a crash or suspension left open, or with turns accepted and never started; null when there
	 * is none. Tool calls that were under way follow their `retryPolicy`.
	 *
	 * Rejects with `session_held` while another living worker works on the session.
	 */
	resume(): Promise<AgentRun | null> {
		return this.#table.worker(this.key).resume();
	}

	/** Ends the active run; queued turns still run. Nothing happens when the session is idle. */
	interrupt(): void {
		this.#table.worker(this.key).interrupt();
	}

	/** The conversation as committed so far. */
	state(): Promise<AgentState> {
		return this.#table.worker(this.key).state();
	}
}
