// The port of checkpoint stores: the latest state of each session, under the session's id.
import type { AgentStateJSON } from "../state/index.ts";

/**
 * Keeps the latest state of each session. Anyone may bring one; `checkpointStoreContract` in `@holdfast/testing` holds it
 * to what agents expect.
 * @see UAP 12.4.1
 */
export interface CheckpointStore {
	/** Keeps a state as the session's latest one. */
	save(sessionId: string, state: AgentStateJSON): Promise<void>;
	/** The state that was saved last, or `null` without one. */
	load(sessionId: string): Promise<AgentStateJSON | null>;
	/** Removes all there is of one session. Harmless where there is nothing. */
	delete(sessionId: string): Promise<void>;
	/** The ids of the sessions that have a state, in no particular order. */
	list(): Promise<string[]>;
}

/** What is known of a checkpoint besides its state. @see UAP 12.4.2 */
export interface CheckpointMetadata {
	readonly sessionId: string;
	/** UUIDv4, a new one for each save. */
	readonly checkpointId: string;
	/** When it was saved, ISO 8601. */
	readonly timestamp: string;
	/** The state's step. */
	readonly step: number;
	/** The agent that made the state, where the state's metadata names it. */
	readonly agentId?: string;
}
