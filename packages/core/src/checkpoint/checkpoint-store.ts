// The port of checkpoint stores: the latest state of each session, under the session's id.
import type { AgentStateJSON } from "../state/index.ts";

/**
 * Stores the latest state of each session. You can provide your own; `checkpointStoreContract` in `@holdfast/testing`
 * tests what agents require of it.
 */
export interface CheckpointStore {
	/** Stores a state as the session's latest one. */
	save(sessionId: string, state: AgentStateJSON): Promise<void>;
	/** Returns the last saved state, or `null` if there is none. */
	load(sessionId: string): Promise<AgentStateJSON | null>;
	/** Returns the metadata of the last saved checkpoint, or `null` if there is none. Not every store keeps metadata. */
	loadMetadata?(sessionId: string): Promise<CheckpointMetadata | null>;
	/** Deletes everything stored for one session. Has no effect if there is nothing. */
	delete(sessionId: string): Promise<void>;
	/** Returns the ids of the sessions that have a state, in no particular order. */
	list(): Promise<string[]>;
}

/** Metadata of a checkpoint. */
export interface CheckpointMetadata {
	/** The id under which the checkpoint was saved. */
	readonly sessionId: string;
	/** UUIDv4, a new one for each save. */
	readonly checkpointId: string;
	/** Time of the save, in ISO 8601. */
	readonly timestamp: string;
	/** The state's step. */
	readonly step: number;
	/** The agent that produced the state, if an agent saved it, or the state's metadata names one. */
	readonly agentId?: string;
}

/** A checkpoint with its metadata. */
export interface CheckpointData {
	/** Where the checkpoint belongs, and when it was saved. */
	readonly metadata: CheckpointMetadata;
	/** The saved state. */
	readonly state: AgentStateJSON;
}

/** Stored separately, because the data must contain only the state. */
const agents = new WeakMap<AgentStateJSON, string>();

/** Remembers the agent of a state that is about to be saved. */
export function rememberAgent(state: AgentStateJSON, agentId: string): void {
	agents.set(state, agentId);
}

/** Returns the id of the agent that saves a state, for stores; undefined if unknown. */
export function agentOfCheckpoint(state: AgentStateJSON): string | undefined {
	const named = state.metadata?.agentId;
	return agents.get(state) ?? (typeof named === "string" ? named : undefined);
}
