// What the turns that are about to begin have: what their sessions keep was just read, and is not read again for them.
import type { AgentOptions } from "../agent/index.ts";
import type { SessionSetup } from "./session-setup.ts";

export class TurnSetups {
	readonly #read = new Map<string, SessionSetup>();
	/** Models that were given as they are, and not by a name, by session key. */
	readonly #models = new Map<string, AgentOptions["model"]>();

	/** What the session of a key keeps, as far as a turn that begins has read it. */
	of(key: string): SessionSetup | undefined {
		return this.#read.get(key);
	}

	/** A turn of this session was begun, or refused. */
	forget(key: string): void {
		this.#read.delete(key);
	}

	/** A turn of this session that begins has read this. */
	set(key: string, setup: SessionSetup): void {
		this.#read.set(key, setup);
	}

	/** The model that the session was given as it is. */
	modelOf(key: string): AgentOptions["model"] {
		return this.#models.get(key);
	}

	/** The session has this model from its next turn on; undefined: the one that it keeps the name of. */
	setModel(key: string, model: AgentOptions["model"]): void {
		if (model === undefined) this.#models.delete(key);
		else this.#models.set(key, model);
	}
}
