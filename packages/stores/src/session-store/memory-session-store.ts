// Sessions that exist as long as an object does.
import { uuid } from "@holdfast/upp";
import type { CommitResult, SessionStore, StoredSession } from "holdfast/host";

/**
 * A session store in memory. States are copied when stored and loaded, so that changes by callers have no effect.
 *
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { Agent } from "holdfast";
 * import { MemorySessionStore } from "@holdfast/stores/memory";
 *
 * const sessionStore = new MemorySessionStore();
 * const clerk = new Agent({ model: openai("gpt-5.2"), host: { sessionStore } });
 * console.log(clerk.id);
 */
export class MemorySessionStore implements SessionStore {
	readonly #sessions = new Map<string, StoredSession>();
	readonly #name = uuid();
	#count = 0;

	/** Returns a copy of the data of the key; null if there is none. */
	async load(key: string): Promise<StoredSession | null> {
		const stored = this.#sessions.get(key);
		return stored === undefined ? null : { state: structuredClone(stored.state), version: stored.version };
	}

	/** Replaces or creates the state if the stored version is the expected one; otherwise returns a conflict. */
	async commit(
		key: string,
		{ state }: { readonly state: unknown },
		{ expectedVersion }: { readonly expectedVersion: string | null },
	): Promise<CommitResult> {
		if ((this.#sessions.get(key)?.version ?? null) !== expectedVersion) {
			return { ok: false, reason: "conflict" };
		}
		const version = `${this.#name}.${++this.#count}`;
		this.#sessions.set(key, { state: structuredClone(state), version });
		return { ok: true, version };
	}

	/** Deletes the data of the key. Has no effect if the key is missing. */
	async delete(key: string): Promise<void> {
		this.#sessions.delete(key);
	}
}
