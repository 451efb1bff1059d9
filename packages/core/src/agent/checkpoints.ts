// Checkpoints of pure calls: the session id in the state, and a save after each step that nobody waits for.
import { type CheckpointStore, checkpointSaver } from "../checkpoint/index.ts";
import type { Ids } from "../engine/index.ts";
import type { AgentState } from "../state/index.ts";

/** What an agent with a checkpoint store does with states. @see UAP 12.4 */
export interface Checkpoints {
	/** The state with the id of its session in its metadata. */
	identify(state: AgentState): AgentState;
	/** Saves behind the saves before it; never throws, never waits. */
	readonly save: (state: AgentState) => void;
	/** Settles when what was saved so far is stored. */
	flush(): Promise<void>;
}

/**
 * Ties a store to an agent. The session id is the option's, else the restored state's, else one generated for the agent.
 */
export function checkpointsOf(store: CheckpointStore, sessionId: string | undefined, ids: Ids): Checkpoints {
	const saver = checkpointSaver({ store });
	let generated: string | undefined;
	const idOf = (state: AgentState): string => {
		if (sessionId !== undefined) return sessionId;
		const restored = state.metadata.sessionId;
		if (typeof restored === "string" && restored !== "") return restored;
		generated ??= ids.uuid();
		return generated;
	};
	const identify = (state: AgentState): AgentState => {
		const id = idOf(state);
		return state.metadata.sessionId === id ? state : state.withMetadata("sessionId", id);
	};
	return {
		identify,
		// A middleware may have put another state in the place of the one that was identified.
		save: (state) => saver.save(idOf(state), identify(state)),
		flush: () => saver.flush(),
	};
}
