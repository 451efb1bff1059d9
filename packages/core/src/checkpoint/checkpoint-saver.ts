// Saves states alongside a run: in order within a session, one at a time, without delaying the run. A failed save is
// logged, and the run continues. The queue is bounded (keeps I7): beyond the limit the oldest waiting state is dropped,
// because a newer one replaces it anyway.
import type { AgentState } from "../state/index.ts";
import { type CheckpointStore, rememberAgent } from "./checkpoint-store.ts";

/** Options of `checkpointSaver`. */
export interface CheckpointSaverOptions {
	readonly store: CheckpointStore;
	/** The id of the agent that the states belong to. */
	readonly agentId?: string;
	/** Called for each failed save. An error it throws is ignored. Default: `console.error`. */
	readonly log?: (message: string, error: unknown) => void;
	/**
	 * How many states of one session may wait for a store that is slower than the agent. Waiting states share their
	 * structure, so each costs little. Beyond the limit, the oldest waiting state is never saved, which is logged.
	 * Default 1,000.
	 */
	readonly waitingLimit?: number;
}

/** Saves states in the background. */
export interface CheckpointSaver {
	/**
	 * Enqueues a state as the session's latest one, after earlier ones. Returns immediately and never throws. The first
	 * save of an idle session has already been passed to the store when this returns.
	 */
	save(sessionId: string, state: AgentState): void;
	/** Resolves once every state so far was saved, failed or was dropped. Never rejects. */
	flush(): Promise<void>;
}

/** The saves of one session: one running, the others waiting. */
interface SessionSaves {
	readonly waiting: AgentState[];
	/** Whether dropped states were logged since the queue was last empty. */
	overflowed: boolean;
	readonly done: Promise<void>;
}

export function checkpointSaver(options: CheckpointSaverOptions): CheckpointSaver {
	const { store, agentId, log = logError, waitingLimit = 1_000 } = options;
	const sessions = new Map<string, SessionSaves>();

	const emit = (message: string, error: unknown): void => {
		try {
			log(message, error);
		} catch {
			// A logger that fails must not stop the run.
		}
	};

	const saveOne = async (sessionId: string, state: AgentState): Promise<void> => {
		try {
			const json = state.toJSON();
			if (agentId !== undefined) rememberAgent(json, agentId);
			await store.save(sessionId, json);
		} catch (error) {
			emit(
				`The checkpoint of session ${JSON.stringify(sessionId)} at step ${state.step} was not saved; the run continues.`,
				error,
			);
		}
	};

	const saveAll = async (sessionId: string, first: AgentState, waiting: AgentState[]): Promise<void> => {
		let state: AgentState | undefined = first;
		while (state !== undefined) {
			await saveOne(sessionId, state);
			state = waiting.shift();
		}
		sessions.delete(sessionId);
	};

	return {
		save(sessionId, state) {
			const saves = sessions.get(sessionId);
			if (saves === undefined) {
				const waiting: AgentState[] = [];
				// Set before the store is called, because it may call back.
				const { promise: done, resolve } = Promise.withResolvers<void>();
				sessions.set(sessionId, { waiting, overflowed: false, done });
				void saveAll(sessionId, state, waiting).then(resolve);
				return;
			}
			saves.waiting.push(state);
			if (saves.waiting.length <= waitingLimit) return;
			saves.waiting.shift();
			if (saves.overflowed) return;
			saves.overflowed = true;
			emit(
				`The store is too slow for session ${JSON.stringify(sessionId)}: more than ${waitingLimit} checkpoints wait, and the oldest are discarded.`,
				undefined,
			);
		},
		async flush() {
			await Promise.all(Array.from(sessions.values(), ({ done }) => done));
		},
	};
}

function logError(message: string, error: unknown): void {
	if (error === undefined) console.error(message);
	else console.error(message, error);
}
