// Checkpoints of pure calls: the session id in the state, and an asynchronous save after each step.
import { type CheckpointStore, checkpointSaver } from "../checkpoint/index.ts";
import type { Ids } from "../host/index.ts";
import type { AgentState } from "../state/index.ts";

/** The checkpoint operations of an agent that has a checkpoint store. */
export interface Checkpoints {
	/**
	 * Returns the session of a call on a state: the option's, otherwise the restored state's, otherwise one generated
	 * for the agent.
	 */
	session(state: AgentState): SessionCheckpoints;
	/** Resolves once all saves so far are stored. */
	flush(): Promise<void>;
}

/** The checkpoints of one call. Its session stays the same even if strategies and middlewares change the state. */
export interface SessionCheckpoints {
	/** Returns the state with the session's id in its metadata. */
	identify(state: AgentState): AgentState;
	/** Enqueues a save after the earlier ones. Never throws and never waits. */
	save(state: AgentState): void;
	/**
	 * Returns the session of a state that a middleware returned in place of the given one: the session that the state
	 * names, if any.
	 */
	of(state: AgentState): SessionCheckpoints;
}

/** Connects a store to an agent. */
export function checkpointsOf(
	store: CheckpointStore,
	sessionId: string | undefined,
	agentId: string,
	ids: Ids,
): Checkpoints {
	const saver = checkpointSaver({ store, agentId });
	let generated: string | undefined;
	const namedIn = ({ metadata }: AgentState): string | undefined => {
		if (sessionId !== undefined) return sessionId;
		const restored = metadata.sessionId;
		return typeof restored === "string" && restored !== "" ? restored : undefined;
	};
	const sessionOf = (id: string): SessionCheckpoints => {
		const identify = (state: AgentState): AgentState =>
			state.metadata.sessionId === id ? state : state.withMetadata("sessionId", id);
		return {
			identify,
			save: (state) => saver.save(id, identify(state)),
			of: (state) => sessionOf(namedIn(state) ?? id),
		};
	};
	return {
		session(state) {
			const id = namedIn(state);
			if (id !== undefined) return sessionOf(id);
			generated ??= ids.uuid();
			return sessionOf(generated);
		},
		flush: () => saver.flush(),
	};
}
