// The port of checkpoint stores: the latest state of each session, under the session's id.
import type { AgentStateJSON } from "../state/index.ts";

/**
 * Keeps the latest state of each session. You may provide your own; `checkpointStoreContract` in `@holdfast/testing`
 * tests what agents expect of it.
 */
export interface CheckpointStore {
	/** Keeps a state as the session's latest one. */
	save(sessionId: string, state: AgentStateJSON): Promise<void>;
	/** The state that was saved last, or `null` without one. */
	load(sessionId: string): Promise<AgentStateJSON | null>;
	/** The metadata of the last saved checkpoint, or `null` without one. Not every store keeps it. */
	loadMetadata?(sessionId: string): Promise<CheckpointMetadata | null>;
	/** Removes everything stored for one session. Harmless if there is nothing. */
	delete(sessionId: string): Promise<void>;
	/** The ids of the sessions that have a state, in no particular order. */
	list(): Promise<string[]>;
}

/** Metadata of a checkpoint. */
export interface CheckpointMetadata {
	readonly sessionId: string;
	/** UUIDv4, a new one for each save. */
	readonly checkpointId: string;
	/** When it was saved, ISO 8601. */
	readonly timestamp: string;
	/** The state's step. */
	readonly step: number;
	/** The agent that produced the state, if an agent saved it, or the state's metadata names one. */
	readonly agentId?: string;
}

/** A checkpoint with its metadata. */
export interface CheckpointData {
	readonly metadata: CheckpointMetadata;
	readonly state: AgentStateJSON;
}

/** Stored separately, because the data belongs to the state alone. */
const agents = new WeakMap<AgentStateJSON, string>();

/** Remembers which agent a state that is about to be saved is of. */
export function rememberAgent(state: AgentStateJSON, agentId: string): void {
	agents.set(state, agentId);
}

/** The id of the agent that saves a state, for stores; undefined if it is unknown. */
export function agentOfCheckpoint(state: AgentStateJSON): string | undefined {
	const named = state.metadata?.agentId;
	return agents.get(state) ?? (typeof named === "string" ? named : undefined);
}
