// The agent: written once, run as a function (generate, stream, ask, query) or as durable sessions (send, session).
import {
	asMessage,
	HoldfastError,
	insteadOf,
	type Message,
	type Turn,
	UserMessage,
	uuid,
} from "@holdfast/upp";
import type { AgentStreamResult, EngineAgent } from "../engine/index.ts";
import type { SendInput } from "../facts/index.ts";
import type { AgentRun, RecoverOptions, Session, SessionAgent, WorkOptions } from "../sessions/index.ts";
import type { GenerateResult } from "../state/index.ts";
import { AgentState } from "../state/index.ts";
import type { AnyTool } from "../tools/index.ts";
import { type CallOptions, type CallSetup, startCall } from "./agent-call.ts";
import { AgentSessions, sessionAgent } from "./agent-sessions.ts";
import { streamCall } from "./agent-stream.ts";
import { checkModel, checkNames, checkOptions } from "./check-options.ts";
import { checkpointsOf } from "./checkpoints.ts";
import { type AgentOptions, opaqueOf, resolveAgent, toolObjects } from "./options.ts";

/**
 * An agent: a model, tools and instructions.
 *
 * `new Agent(options)` is strict: a missing model or an unknown option is a TypeError. The factory `agent(options)` is
 * open: a missing model is an error only when used, and unknown options go to the model layer.
 *
 * Spreading an agent gives its options: `agent({ ...coder, system: "Be brief." })`.
 *
 * @see UAP 4.3, keyed sessions "Core DX: Agent"
 */
export class Agent {
	declare readonly model: AgentOptions["model"];
	declare readonly system: string | undefined;
	/** The caller's own tool objects. */
	readonly tools: readonly AnyTool[];
	declare readonly name?: string;
	declare readonly description?: string;
	readonly #id: string;
	readonly #engine: EngineAgent;
	readonly #calls: CallSetup;
	readonly #sessions: AgentSessions;

	static {
		// No name of it is in the declarations: sessions find by it what they know of an agent.
		Object.defineProperty(Agent.prototype, sessionAgent, {
			get(this: Agent): SessionAgent {
				return this.#sessions.agent;
			},
		});
	}

	/** @throws TypeError naming the option that is missing, unknown or wrong. */
	constructor(options: AgentOptions) {
		if (typeof options !== "object" || options === null)
			throw new TypeError("new Agent() takes an object of options.");
		if (!(options instanceof OpenOptions)) {
			checkNames(options);
			checkModel(options);
		}
		const { ...given } = options;
		checkOptions(given);
		this.#id = (given.ports?.ids ?? { uuid }).uuid();
		this.#engine = resolveAgent(this.#id, given);
		const { checkpoints, sessionId } = given;
		this.#sessions = new AgentSessions(this.#id, given, { owner: this }, this.#engine);
		this.#calls = {
			agent: this,
			engine: this.#engine,
			policed: this.#sessions.agent,
			checkpoints: checkpoints && checkpointsOf(checkpoints, sessionId, this.#id, this.#engine.ports.ids),
			opaque: opaqueOf(given),
		};
		for (const [name, value] of Object.entries(given)) {
			// An option that happens to be named like a method stays an option and does not hide the method.
			if (!(name in Agent.prototype)) Object.defineProperty(this, name, { ...ownProperty, value });
		}
		this.tools = toolObjects(given.tools);
		if (given.system === undefined && given.instructions !== undefined) {
			Object.defineProperty(this, "system", { value: given.instructions, enumerable: false });
		}
	}

	/**
	 * Makes an agent and waits until its plugins are set up.
	 *
	 * Rejects with what the constructor throws, and with what a plugin's `setup` threw.
	 *
	 * @see keyed sessions, plugins
	 */
	static async create(options: AgentOptions): Promise<Agent> {
		const made = new Agent(options);
		await made.#sessions.ready();
		return made;
	}

	/** UUIDv4 of this agent object. */
	get id(): string {
		return this.#id;
	}

	/**
	 * Runs the agent on an input and returns the turn and the new state. The given state is not changed.
	 *
	 * Rejects with the provider's UPPError, `model_missing`, or what a hook threw.
	 *
	 * @see UAP 4.4
	 */
	async generate(
		input: string | Message,
		state: AgentState = AgentState.initial(),
		options: CallOptions = {},
	): Promise<GenerateResult> {
		return startCall(this.#calls, messageOf(input), checkState(state), options).result;
	}

	/** Like `generate`, and reports what happens while it happens. @see UAP 4.5 */
	stream(
		input: string | Message,
		state: AgentState = AgentState.initial(),
		options: CallOptions = {},
	): AgentStreamResult {
		return streamCall(this.#calls, messageOf(input), checkState(state), options);
	}

	/** Multi-turn call: the question and the answer are in the returned state. @see UAP 4.6 */
	ask(input: string | Message, state: AgentState, options?: CallOptions): Promise<GenerateResult> {
		return this.generate(input, state, options);
	}

	/** One call without memory. @see UAP 4.7 */
	async query(input: string | Message, options?: CallOptions): Promise<Turn> {
		const { turn } = await this.generate(input, AgentState.initial(), options);
		return turn;
	}

	/** Sends to the session "default". @see keyed sessions, Agent */
	send(input: SendInput): Promise<AgentRun> {
		return this.session("default").send(input);
	}

	/**
	 * A handle of the durable conversation under a key. Handles of one key share its history and queue.
	 * @throws TypeError when the key is not a non-empty string.
	 */
	session(key: string): Session {
		if (typeof key !== "string" || key === "") throw new TypeError("session(key) takes a non-empty string.");
		return this.#sessions.session(key);
	}

	/**
	 * Finds the runs and the accepted turns that nobody alive works on, and finishes them: each session's first is
	 * yielded as it is resumed.
	 * Runs that another living worker holds are left alone, and so are parked ones. A run that is parked now is yielded
	 * once, with the outcome `suspended` and the error `run_parked`. A session that fails holds up none of the others:
	 * `onProblem` is called with it, else its error is thrown when all were tried.
	 */
	recover(options?: RecoverOptions): AsyncGenerator<AgentRun, void, void> {
		return this.#sessions.recover(options);
	}

	/**
	 * Continues a run that the host scheduled, at whatever time and in whatever process: a notification is delivered to its
	 * session, a run that nobody alive works on is resumed. Null when another call has the run, or it is over.
	 *
	 * Rejects with `run_not_found` for a run that was never recorded, `no_execution_host` when the agent's host keeps no
	 * runs.
	 *
	 * @see keyed sessions "Send, Host Resume, and Steer"
	 */
	async resume(runId: string): Promise<AgentRun | null> {
		return this.#sessions.resume(runId);
	}

	/**
	 * Works on what is due in this agent's sessions, until the signal fires or the agent is closed: runs and accepted turns
	 * that a dead process left, and what the host has scheduled. Yields each run as it is resumed; they continue by
	 * themselves. Any number of processes may work on one host: each run is resumed by one of them.
	 *
	 * Rejects with what the store or resuming a run threw, unless `onProblem` is notified of it; TypeError for an option
	 * that makes no sense.
	 *
	 * @see keyed sessions "Send, Host Resume, and Steer"
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
	work(options: WorkOptions = {}): AsyncGenerator<AgentRun, void, void> {
		return this.#sessions.work(options);
	}

	/** Settles when every checkpoint saved so far is stored: for an orderly end. @see UAP 12.4.7 */
	async flush(): Promise<void> {
		await this.#calls.checkpoints?.flush();
	}

	/** Suspends the runs under way, so that any worker can resume them, and closes the host if it is this agent's own. */
	async close(): Promise<void> {
		await this.#sessions.close(() => this.flush());
	}
}

const ownProperty = { enumerable: true, configurable: true, writable: true };

/** Marks options of the open factory; the constructor does not check those. */
class OpenOptions {}

/**
 * Makes an agent. Options that are not known go to the model layer; a missing model is an error only when used.
 *
 * @see UAP 4.1
 */
export function agent(options: AgentOptions & Readonly<Record<string, unknown>>): Agent {
	if (typeof options !== "object" || options === null)
		throw new TypeError("agent() takes an object of options.");
	return new Agent(Object.assign(new OpenOptions(), options));
}

function checkState(state: AgentState): AgentState {
	if (state instanceof AgentState) return state;
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
