// Setups of turns that are about to start. They were just read, and are kept so that they are not read twice.
import type { AgentOptions } from "../agent/index.ts";
import type { SessionSetup } from "./session-setup.ts";

export class TurnSetups {
	readonly #read = new Map<string, SessionSetup>();
	/** Models given as objects instead of names, by session key. */
	readonly #models = new Map<string, AgentOptions["model"]>();

	/** Returns the session's setup if a starting turn has read it. */
	of(key: string): SessionSetup | undefined {
		return this.#read.get(key);
	}

	/** A turn of this session was started or refused. */
	forget(key: string): void {
		this.#read.delete(key);
	}

	/** A turn of this session that is about to begin has read this setup. */
	set(key: string, setup: SessionSetup): void {
		this.#read.set(key, setup);
	}

	/** Returns the model object that was given for the session. */
	modelOf(key: string): AgentOptions["model"] {
		return this.#models.get(key);
	}

	/** Sets the session's model from its next turn on; undefined: the model whose name is stored. */
	setModel(key: string, model: AgentOptions["model"]): void {
		if (model === undefined) this.#models.delete(key);
		else this.#models.set(key, model);
	}
}
