// The agent: defined once, then run as a function (generate, stream, ask, query) or as durable sessions (send, session).

import {
	asMessage,
	HoldfastError,
	HoldfastTypeError,
	insteadOf,
	isThenable,
	type Message,
	UserMessage,
	uuid,
} from "@holdfast/upp";
import type { AgentStreamEvent, AgentStreamResult, EngineAgent } from "../engine/index.ts";
import type { SendInput } from "../facts/index.ts";
import type { OutputOf, OutputSchema } from "../output/index.ts";
import {
	type DrainOptions,
	Lifecycle,
	type RecoverOptions,
	type Recovery,
	type SessionAgent,
	type SuperviseOptions,
	type WorkOptions,
} from "../sessions/index.ts";
import type { ResultWith } from "../state/index.ts";
import { AgentState } from "../state/index.ts";
import type { ToolSet } from "../tools/index.ts";
import { type CallOptions, type CallSetup, startCall } from "./agent-call.ts";
import { AgentSessions, sessionAgent } from "./agent-sessions.ts";
import { streamCall } from "./agent-stream.ts";
import type { AgentTypes, RunOf, SessionOf, ToolList } from "./agent-types.ts";
import {
	checkAgentOptions,
	checkDependencies,
	checkLoaders,
	checkModel,
	checkNames,
	checkWithoutModel,
} from "./check-options.ts";
import { checkpointsOf } from "./checkpoints.ts";
import { refuseForeignCalls } from "./foreign-calls.ts";
import type { ForeignOptions } from "./foreign-options.ts";
import { withoutInstance } from "./llm-instance.ts";
import { type AgentOptions, opaqueOf, resolveAgent, toolObjects } from "./options.ts";

/**
 * An agent: a model, tools and instructions.
 *
 * Throws `invalid_option` for an unknown option or a missing model. The factory `agent(options)` does the same, except
 * that it reports a missing model only when the agent is used.
 *
 * Spreading an agent yields its options: `agent({ ...coder, system: "Be brief." })`.
 */
export class Agent<const Tools extends ToolSet = ToolSet, const Schema extends OutputSchema = OutputSchema> {
	/** Never present: carries the types of the agent's tools and output, for `InferTools`, `InferOutput` and clients. */
	declare readonly "~types"?: AgentTypes<Tools, Schema>;
	/** The model, as passed in the options. */
	declare readonly model: AgentOptions["model"];
	/** The system prompt: a text, parts, or a function that returns either. */
	declare readonly system: AgentOptions["system"];
	/** The caller's own tool objects. */
	readonly tools: ToolList<Tools>;
	/** The name shown to people and other agents. */
	declare readonly name?: string;
	/** When to use the agent, for a parent that has it as a sub-agent. */
	declare readonly description?: string;
	readonly #id: string;
	readonly #engine: EngineAgent;
	readonly #calls: CallSetup;
	readonly #sessions: AgentSessions;
	readonly #life: Lifecycle;
	#outputs: WeakMap<object, EngineAgent> | undefined;

	static {
		// Omitted from the declarations: sessions find their data about an agent through it.
		Object.defineProperty(Agent.prototype, sessionAgent, {
			get(this: Agent): SessionAgent {
				return this.#sessions.agent;
			},
		});
		refuseForeignCalls(Agent.prototype);
	}

	/** @throws HoldfastError `invalid_option` naming the missing, unknown or invalid option. */
	constructor(options: AgentOptions<Tools, Schema>) {
		if (typeof options !== "object" || options === null)
			throw new HoldfastTypeError("invalid_option", "new Agent() takes an object of options.");
		checkNames(options);
		if (!(options instanceof OpenOptions) || options.model !== undefined) checkModel(options);
		const { ...given } = withoutInstance(options);
		checkAgentOptions(given);
		this.#id = (given.ports?.ids ?? { uuid }).uuid();
		this.#engine = resolveAgent(this.#id, given);
		const { checkpoints, sessionId } = given;
		this.#sessions = new AgentSessions(this.#id, given, { owner: this, engine: this.#engine });
		// Only now are the sub-agents known to be agents with names.
		checkDependencies(this.#engine.tools, given.subagents);
		checkLoaders(this.#engine, given);
		checkWithoutModel(this.#engine, given);
		this.#life = new Lifecycle(this.#sessions, { release: () => this.flush() });
		this.#calls = {
			agent: this,
			engine: this.#engine,
			engineWith: (output) => this.#engineWith(given, output),
			policed: this.#sessions.agent,
			checkpoints: checkpoints && checkpointsOf(checkpoints, sessionId, this.#id, this.#engine.ports.ids),
			opaque: opaqueOf(given),
		};
		for (const [name, value] of Object.entries(given))
			Object.defineProperty(this, name, { ...ownProperty, value });
		this.tools = toolObjects(given.tools) as ToolList<Tools>;
		if (given.system === undefined && given.instructions !== undefined) {
			Object.defineProperty(this, "system", { value: given.instructions, enumerable: false });
		}
	}

	/**
	 * Creates an agent and waits until its plugins are set up.
	 *
	 * Rejects with the errors of the constructor and of a plugin's `setup`.
	 */
	static async create<
		const Tools extends ToolSet = ToolSet,
		const Schema extends OutputSchema = OutputSchema,
	>(options: AgentOptions<Tools, Schema>): Promise<Agent<Tools, Schema>> {
		const made = new Agent(options);
		await made.#sessions.ready();
		return made;
	}

	/** The engine agent for calls with this output schema, created once. */
	#engineWith(options: AgentOptions, output: unknown): EngineAgent {
		const isKey = (typeof output === "object" || typeof output === "function") && output !== null;
		const known = isKey ? this.#outputs?.get(output) : undefined;
		if (known !== undefined) return known;
		const { structure: _, ...own } = options;
		const engine = resolveAgent(this.#id, { ...own, output: output as OutputSchema });
		this.#outputs ??= new WeakMap();
		if (isKey) this.#outputs.set(output, engine);
		return engine;
	}

	/** UUIDv4 of this agent object. */
	get id(): string {
		return this.#id;
	}

	/**
	 * Runs the agent on an input and returns the turn and the new state. Does not change the given state.
	 *
	 * Rejects with the provider's UPPError, `model_missing`, or the error of a hook.
	 */
	async generate<const Own extends OutputSchema = Schema>(
		input: string | Message,
		state: AgentState = AgentState.initial(),
		options: CallOptions<Own> = {},
	): Promise<ResultWith<OutputOf<Own>>> {
		const { result } = startCall(this.#calls, messageOf(input), checkState(state), options);
		return result as Promise<ResultWith<OutputOf<Own>>>;
	}

	/** Like `generate`, but emits events during the run. */
	stream<const Own extends OutputSchema = Schema>(
		input: string | Message,
		state: AgentState = AgentState.initial(),
		options: CallOptions<Own> = {},
	): AgentStreamResult<OutputOf<Own>, AgentStreamEvent<Tools>> {
		const stream = streamCall(this.#calls, messageOf(input), checkState(state), options);
		return stream as AgentStreamResult<OutputOf<Own>, AgentStreamEvent<Tools>>;
	}

	/** Continues a conversation: the returned state contains the question and the answer. */
	ask<const Own extends OutputSchema = Schema>(
		input: string | Message,
		state: AgentState,
		options?: CallOptions<Own>,
	): Promise<ResultWith<OutputOf<Own>>> {
		return this.generate(input, state, options);
	}

	/** Makes a single stateless call. */
	async query<const Own extends OutputSchema = Schema>(
		input: string | Message,
		options?: CallOptions<Own>,
	): Promise<ResultWith<OutputOf<Own>>["turn"]> {
		const result = await this.generate(input, AgentState.initial(), options);
		return result.turn as ResultWith<OutputOf<Own>>["turn"];
	}

	/** Short for `session("default").send(input)`. */
	send(input: SendInput): Promise<RunOf<Tools, Schema>> {
		return this.session("default").send(input);
	}

	/**
	 * Returns a handle of the durable conversation with this key. Handles with the same key share its history and queue.
	 * @throws HoldfastError `invalid_argument` if the key is not a non-empty string.
	 */
	session(key: string): SessionOf<Tools, Schema> {
		return this.#sessions.session(key) as SessionOf<Tools, Schema>;
	}

	/**
	 * Finishes, once, the work that dead processes left: runs without a live owner, and accepted turns. Iterate over it
	 * to get each run as it is resumed, or await it until all of them have ended. Skips runs that another live worker
	 * holds, and runs that are already parked. A run that gets parked now is yielded once, with the outcome `suspended`
	 * and the error `run_parked`. A failing session does not stop the others: its error is passed to `onProblem`, or
	 * thrown once all sessions were tried. Concurrent recoveries share the resumed runs.
	 *
	 * Rejects with `agent_closed` after `close()`.
	 */
	recover(options?: RecoverOptions): Recovery<RunOf<Tools, Schema>> {
		return this.#life.recover(options) as unknown as Recovery<RunOf<Tools, Schema>>;
	}

	/**
	 * Like `recover`, but in the background until the agent is closed. It also runs the host's scheduled work, and
	 * retries failures. Resolves after the first scan.
	 *
	 * Rejects with `agent_closed` after `close()`, and with `invalid_option`.
	 */
	supervise(options?: SuperviseOptions): Promise<void> {
		return this.#life.supervise(options);
	}

	/**
	 * Continues a run that the host scheduled, at any time and in any process: delivers a notification to its session, or
	 * resumes a run without a live owner. Returns null if another call holds the run, or if it has ended.
	 *
	 * Rejects with `run_not_found` for a run that was never recorded, and with `no_execution_host` if the agent's host
	 * keeps no runs.
	 */
	async resume(runId: string): Promise<RunOf<Tools, Schema> | null> {
		return this.#sessions.resume(runId) as Promise<RunOf<Tools, Schema> | null>;
	}

	/**
	 * Runs the due work of this agent's sessions until the signal fires or the agent is closed: runs and accepted turns
	 * that a dead process left, and work that the host has scheduled. Yields each run as it is resumed; the runs continue
	 * by themselves. Any number of processes may work on one host: each run is resumed by one of them.
	 *
	 * Rejects with an error of the store or of resuming a run, unless `onProblem` is set to receive it, and with
	 * `invalid_option` for an invalid option.
	 *
	 * @example
	 * import { openai } from "@ai-sdk/openai";
	 * import { Agent } from "holdfast";
	 * import { sqliteHost } from "holdfast/sqlite";
	 *
	 * const host = sqliteHost("./holdfast.db");
	 * const clerk = new Agent({ model: openai("gpt-5.2"), host });
	 * for await (const run of clerk.work({ until: "done" })) console.log(run.sessionKey, run.runId);
	 * await clerk.close();
	 * await host.close();
	 */
	work(options: WorkOptions = {}): AsyncGenerator<RunOf<Tools, Schema>, void, void> {
		return this.#life.work(options) as AsyncGenerator<RunOf<Tools, Schema>, void, void>;
	}

	/** Resolves once every checkpoint saved so far is stored. Use it for an orderly shutdown. */
	async flush(): Promise<void> {
		await this.#calls.checkpoints?.flush();
	}

	/**
	 * Refuses requests with `agent_closed`, gives running runs `drainMs` to end, and suspends the others, so that any
	 * worker can resume them. Then closes the host if the agent owns it. A second call waits for the first.
	 *
	 * Rejects with `invalid_option`, and with `agent_not_ready` during the setup of one of its plugins.
	 */
	close(options?: DrainOptions): Promise<void> {
		return this.#life.close(options);
	}
}

const ownProperty = { enumerable: true, configurable: true, writable: true };

/** Marks options that come from the `agent()` factory; the constructor does not check those. */
class OpenOptions {}

/**
 * Creates an agent. Same as `new Agent()`, except that it reports a missing model only when the agent is used.
 *
 * @throws HoldfastError `invalid_option` for an unknown option, with a suggestion; also the errors of the constructor.
 */
export function agent<
	const Tools extends ToolSet = ToolSet,
	const Schema extends OutputSchema = OutputSchema,
>(options: AgentOptions<Tools, Schema> & ForeignOptions): Agent<Tools, Schema> {
	if (typeof options !== "object" || options === null)
		throw new HoldfastTypeError("invalid_option", "agent() takes an object of options.");
	return new Agent<Tools, Schema>(Object.assign(new OpenOptions(), options));
}

function checkState(state: AgentState): AgentState {
	if (state instanceof AgentState) return state;
	if (isThenable(state))
		throw new HoldfastError(
			"invalid_state",
			"The second argument must be an AgentState, but it is a promise. Await the earlier call, and pass the `state` of its result.",
		);
	const isLikeState = typeof (state as Partial<AgentState> | null | undefined)?.toJSON === "function";
	const looksLikeOptions = (
		["threadId", "resourceId", "memory", "configurable", "session", "sessionId"] as const
	).some((name) => Object.hasOwn(Object(state), name));
	if (looksLikeOptions)
		throw new HoldfastError(
			"invalid_state",
			"The second argument must be an AgentState. A conversation that is kept is a session: `const run = await agent.session(key).send(input)`.",
		);
	const isOptions = ["signal", "output", "parentContext"].some((name) => Object.hasOwn(Object(state), name));
	if (isOptions)
		throw new HoldfastError(
			"invalid_state",
			"The second argument must be an AgentState. Options are the third argument: `stream(input, AgentState.initial(), options)`.",
		);
	const instead = isLikeState
		? "It is a state of another package, or of another copy of this one: give AgentState.fromJSON(state.toJSON())."
		: "Give AgentState.initial(), or the state of an earlier call; JSON data is read with AgentState.fromJSON().";
	throw new HoldfastError("invalid_state", `The second argument must be an AgentState. ${instead}`);
}

function messageOf(input: string | Message): Message {
	if (typeof input === "string") return new UserMessage(input);
	const message = asMessage(input);
	if (message !== undefined) return message;
	throw new HoldfastError(
		"invalid_input",
		`The input must be a string or a message. ${insteadOfInput(input)}`,
	);
}

/** Returns advice for inputs in the form of other libraries. */
function insteadOfInput(input: unknown): string {
	if (typeof input !== "object" || input === null) return insteadOf(input);
	if (Array.isArray(input) || "messages" in input)
		return "Give the last message, and the earlier ones as a state: `generate(text, AgentState.initial().withMessages(messages))`.";
	if ("prompt" in input) return "Give the text of `prompt` itself.";
	return insteadOf(input);
}
