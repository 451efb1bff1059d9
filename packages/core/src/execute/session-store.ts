// `createSession` sessions that share one set of options, by id: for programs that serve sessions themselves.
import { HoldfastError, HoldfastTypeError } from "@holdfast/upp";
import type { AgentOptions } from "../agent/index.ts";
import { memoryHost } from "../host/index.ts";
import type { OutputOf, OutputSchema } from "../output/index.ts";
import type { Plain, ToolSet } from "../tools/index.ts";
import { type AgentContext, type AgentSession, createSession, type PromptOptions } from "./create-session.ts";
import type { ExecuteEvent } from "./execute-event.ts";
import type { SessionMessage } from "./session-message.ts";

/** Options of a `SessionStore`. They apply to all of its sessions unless `create` overrides them. */
export interface SessionStoreOptions extends PromptOptions {
	/** The models that `create` accepts by name. Default: none; a name is refused with `unknown_model`. */
	readonly models?: Readonly<Record<string, NonNullable<AgentOptions["model"]>>>;
}

/** Options of one session of a store: those of `createSession`, except that the model may also be a name in `models`. */
export interface StoredSessionOptions<Schema extends OutputSchema = OutputSchema>
	extends Omit<PromptOptions<Schema>, "model" | "host"> {
	/** A model, or its name in the store's `models`. Default: the store's. */
	readonly model?: PromptOptions["model"] | string;
}

/**
 * Keeps sessions by id, with one model and one set of options. It holds each session in memory until you call `delete`.
 * If `host` stores them, sessions outlive the process, and `create` restores them.
 *
 * @example
 * import { execute } from "holdfast";
 * import { SessionStore } from "holdfast/execute";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const sessions = new SessionStore({ model: scriptedModel(["Hello."]) });
 * const session = sessions.get("trip") ?? sessions.create("trip", { systemPrompt: "Be brief." });
 * await execute(session, "Hi!").result();
 * console.log(sessions.getContext("trip")?.length); // 2
 */
export class SessionStore {
	readonly #sessions = new Map<string, AgentSession>();
	readonly #options: PromptOptions;
	readonly #models: ReadonlyMap<string, NonNullable<AgentOptions["model"]>>;

	/** Creates an empty store. The sessions share these options. */
	constructor({ models = {}, ...options }: SessionStoreOptions = {}) {
		this.#models = new Map(Object.entries(models));
		this.#options = { ...options, host: options.host ?? memoryHost() };
	}

	/**
	 * Creates or restores a session, as `createSession` does. It is bound to its store, so it can replace that function.
	 * @throws HoldfastError `unknown_model`, `session_exists` if this store already holds a session with the id, and the
	 * errors of `createSession`.
	 */
	readonly create = <const Tools extends ToolSet = ToolSet, const Schema extends OutputSchema = OutputSchema>(
		id: string,
		context: AgentContext<Tools>,
		{ model, ...options }: StoredSessionOptions<Schema> = {},
	): AgentSession<Plain<OutputOf<Schema>>, ExecuteEvent<Tools>> => {
		if (this.#sessions.has(id))
			throw new HoldfastError(
				"session_exists",
				`The store has a session "${id}". Use \`get\`, or delete it.`,
			);
		if ("host" in options)
			throw new HoldfastTypeError("invalid_option", "All sessions of a store share its `host`.");
		const session = createSession<Tools, Schema>(id, context, {
			...(this.#options as PromptOptions<Schema>),
			...options,
			...(model === undefined ? {} : { model: this.#model(model) }),
		});
		this.#sessions.set(id, session as unknown as AgentSession);
		return session;
	};

	/** Returns a session that this store has created; undefined for any other. */
	get(id: string): AgentSession | undefined {
		return this.#sessions.get(id);
	}

	/** Returns the messages of a session; undefined if this store has not created it. */
	getContext(id: string): readonly SessionMessage[] | undefined {
		return this.#sessions.get(id)?.messages;
	}

	/** Releases a session, and returns whether it was held. The `host` keeps its stored data. */
	delete(id: string): boolean {
		return this.#sessions.delete(id);
	}

	#model(given: NonNullable<StoredSessionOptions["model"]>): NonNullable<AgentOptions["model"]> {
		if (typeof given !== "string") return given;
		const model = this.#models.get(given);
		if (model !== undefined) return model;
		throw new HoldfastError(
			"unknown_model",
			`The store has no model "${given}". Add it to the store's \`models\`.`,
		);
	}
}
