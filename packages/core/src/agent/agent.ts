// The agent: written once, run as a function (generate, stream, ask, query) or as durable sessions (send, session).

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
import { checkModel, checkNames, checkOptions } from "./check-options.ts";
import { checkpointsOf } from "./checkpoints.ts";
import type { ForeignOptions } from "./foreign-options.ts";
import { withoutInstance } from "./llm-instance.ts";
import { type AgentOptions, opaqueOf, resolveAgent, toolObjects } from "./options.ts";

/**
 * An agent: a model, tools and instructions.
 *
 * An unknown option throws `invalid_option`, and so does a missing model. The factory `agent(options)` does the same,
 * except that a missing model is an error only when the agent is used.
 *
 * Spreading an agent yields its options: `agent({ ...coder, system: "Be brief." })`.
 */
export class Agent<const Tools extends ToolSet = ToolSet, const Schema extends OutputSchema = OutputSchema> {
	/** Never present: carries the types of the agent's tools and output, for `InferTools`, `InferOutput` and clients. */
	declare readonly "~types"?: AgentTypes<Tools, Schema>;
	declare readonly model: AgentOptions["model"];
	declare readonly system: string | undefined;
	/** The caller's own tool objects. */
	readonly tools: ToolList<Tools>;
	declare readonly name?: string;
	declare readonly description?: string;
	readonly #id: string;
	readonly #engine: EngineAgent;
	readonly #calls: CallSetup;
	readonly #sessions: AgentSessions;
	readonly #life: Lifecycle;
	#outputs: WeakMap<object, EngineAgent> | undefined;

	static {
		// Not named in the declarations: sessions find their data about an agent by it.
		Object.defineProperty(Agent.prototype, sessionAgent, {
			get(this: Agent): SessionAgent {
				return this.#sessions.agent;
			},
		});
	}

	/** @throws HoldfastError `invalid_option` naming the option that is missing, unknown or wrong. */
	constructor(options: AgentOptions<Tools, Schema>) {
		if (typeof options !== "object" || options === null)
			throw new HoldfastTypeError("invalid_option", "new Agent() takes an object of options.");
		checkNames(options);
		if (!(options instanceof OpenOptions) || options.model !== undefined) checkModel(options);
		const { ...given } = withoutInstance(options);
		checkOptions(given);
		this.#id = (given.ports?.ids ?? { uuid }).uuid();
		this.#engine = resolveAgent(this.#id, given);
		const { checkpoints, sessionId } = given;
		this.#sessions = new AgentSessions(this.#id, given, { owner: this, engine: this.#engine });
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

	/** The agent in calls with this output, created once. */
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
	 * Runs the agent on an input and returns the turn and the new state. The given state is not changed.
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

	/** Like `generate`, and emits events while it runs. */
	stream<const Own extends OutputSchema = Schema>(
		input: string | Message,
		state: AgentState = AgentState.initial(),
		options: CallOptions<Own> = {},
	): AgentStreamResult<OutputOf<Own>, AgentStreamEvent<Tools>> {
		const stream = streamCall(this.#calls, messageOf(input), checkState(state), options);
		return stream as AgentStreamResult<OutputOf<Own>, AgentStreamEvent<Tools>>;
	}

	/** Multi-turn call: the question and the answer are in the returned state. */
	ask<const Own extends OutputSchema = Schema>(
		input: string | Message,
		state: AgentState,
		options?: CallOptions<Own>,
	): Promise<ResultWith<OutputOf<Own>>> {
		return this.generate(input, state, options);
	}

	/** One call without memory. */
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
	 * A handle of the durable conversation under a key. Handles of one key share its history and queue.
	 * @throws HoldfastError `invalid_argument` when the key is not a non-empty string.
	 */
	session(key: string): SessionOf<Tools, Schema> {
		if (typeof key !== "string" || key === "")
			throw new HoldfastTypeError("invalid_argument", "session(key) takes a non-empty string.");
		return this.#sessions.session(key) as SessionOf<Tools, Schema>;
	}

	/**
	 * Finishes, once, the work of dead processes: runs without a live owner, and accepted turns. Iterate over it to get
	 * each run as it is resumed, or await it until all of them have ended. Runs that another live worker holds are
	 * skipped, and so are parked ones. A run that is parked now is yielded once, with the outcome `suspended` and the
	 * error `run_parked`. A failing session does not hold up the others: `onProblem` is called with its error, or the
	 * error is thrown once all were tried. Concurrent recoveries share the resumed runs.
	 *
	 * Rejects with `agent_closed` after `close()`.
	 */
	recover(options?: RecoverOptions): Recovery<RunOf<Tools, Schema>> {
		return this.#life.recover(options) as unknown as Recovery<RunOf<Tools, Schema>>;
	}

	/**
	 * Does the same in the background until the agent is closed, including the host's scheduled work, and retries
	 * failures. Resolves after the first scan.
	 *
	 * Rejects with `agent_closed` after `close()`, and with `invalid_option`.
	 */
	supervise(options?: SuperviseOptions): Promise<void> {
		return this.#life.supervise(options);
	}

	/**
	 * Continues a run that the host scheduled, at any time and in any process: delivers a notification to its session, or
	 * resumes a run without a live owner. Null if another call has the run, or it has ended.
	 *
	 * Rejects with `run_not_found` for a run that was never recorded, `no_execution_host` when the agent's host keeps no
	 * runs.
	 */
	async resume(runId: string): Promise<RunOf<Tools, Schema> | null> {
		return this.#sessions.resume(runId) as Promise<RunOf<Tools, Schema> | null>;
	}

	/**
	 * Runs the due work of this agent's sessions, until the signal fires or the agent is closed: runs and accepted turns
	 * that a dead process left, and work that the host has scheduled. Yields each run as it is resumed; the runs continue
	 * by themselves. Any number of processes may work on one host: each run is resumed by one of them.
	 *
	 * Rejects with an error of the store or of resuming a run, unless `onProblem` receives it; `invalid_option` for an
	 * invalid option.
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

	/** Settles when every checkpoint saved so far is stored: for an orderly end. */
	async flush(): Promise<void> {
		await this.#calls.checkpoints?.flush();
	}

	/**
	 * Refuses requests with `agent_closed`, gives running runs `drainMs` to end, suspends the others, so that any worker
	 * can resume them, and closes the host if it is this agent's own. A second call waits for the first.
	 *
	 * Rejects with `invalid_option`, and with `agent_not_ready` in the setup of one of its plugins.
	 */
	close(options?: DrainOptions): Promise<void> {
		return this.#life.close(options);
	}
}

const ownProperty = { enumerable: true, configurable: true, writable: true };

/** Marks options of the open factory; the constructor does not check those. */
class OpenOptions {}

/**
 * Creates an agent. It is the same as `new Agent()`, except that a missing model is an error only when the agent is used.
 *
 * @throws HoldfastError `invalid_option` for an unknown option, with what to write instead; the errors of the
 * constructor.
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
			"The second argument must be an AgentState, and it is a promise. Await the earlier call, and give the `state` of its result.",
		);
	const isLikeState = typeof (state as Partial<AgentState> | null | undefined)?.toJSON === "function";
	const instead = isLikeState
		? "It is a state of another package, or of another copy of this one: give AgentState.fromJSON(state.toJSON())."
		: "Give AgentState.initial(), or the state of an earlier call; JSON data is read with AgentState.fromJSON().";
	throw new HoldfastError("invalid_state", `The second argument must be an AgentState. ${instead}`);
}

function messageOf(input: string | Message): Message {
	if (typeof input === "string") return new UserMessage(input);
	const message = asMessage(input);
	if (message !== undefined) return message;
	throw new HoldfastError("invalid_input", `The input must be a string or a message. ${insteadOf(input)}`);
}
