// The sessions of document 3 over one host: one table of keyed sessions, whose turns are worked on by the agent that each
// session has at that time (keeps I1: there is no loop here). Of a session nothing is kept here but while it is used.
//
// open: sessions are made, executed, stopped and deleted. closed: runs are suspended, and nothing is begun any more.
import { HoldfastTypeError } from "@holdfast/upp";
import {
	type AgentFor,
	type AgentOptions,
	AgentSessions,
	checkModel,
	checkNames,
	checkOptions,
	type TurnOptions,
	toolsAsGiven,
} from "../agent/index.ts";
import type { Caller } from "../caller/index.ts";
import type { ObserveRun } from "../engine/index.ts";
import type { Host, SessionKeys } from "../host/index.ts";
import { keysOf } from "../host/index.ts";
import { type AgentRun, agentClosed, type WorkOptions } from "../sessions/index.ts";
import { sessionNotFound } from "./execute-errors.ts";
import { ExecuteSession, type SharedParts } from "./execute-session.ts";
import { readSetup } from "./session-setup.ts";
import { type TurnAgentParts, TurnAgents } from "./turn-agents.ts";
import { TurnSetups } from "./turn-setups.ts";

/** Options of `ExecuteSessions`. */
export interface ExecuteSessionsOptions extends TurnAgentParts {
	/** Where the sessions live. */
	readonly host: Host;
	/** Under which keys the sessions are in the journal. Default: under their own. */
	readonly keys?: SessionKeys;
	/**
	 * What a session's turns have in place of the options of `agent`, asked when it is made, before each turn and each resume. The
	 * same object is the same agent: who gives it keeps it. Default: nothing.
	 */
	readonly agentFor?: AgentFor | undefined;
	/** Looks on at each run that is driven in this process. Default: nobody does. */
	readonly observe?: ObserveRun | undefined;
}

/**
 * The sessions that `createSession()` and servers are made of: each has a context and options of its own, which are kept
 * with it, and is worked on by an agent that is made of them.
 *
 * @see document 3, "Agent Sessions"
 */
export class ExecuteSessions {
	/** Makes and keeps the agents of turns. */
	readonly agents: TurnAgents;
	readonly #options: ExecuteSessionsOptions;
	readonly #keys: SessionKeys;
	readonly #setups = new TurnSetups();
	readonly #parts: SharedParts;
	#sessions: AgentSessions | undefined;
	#isClosed = false;

	/** @throws HoldfastError `invalid_option` naming the option that is missing, unknown or wrong; `invalid_tool`, `duplicate_tool`. */
	constructor(options: ExecuteSessionsOptions) {
		checkParts(options);
		const { host, keys = keysOf(undefined) } = options;
		const agent = { ...options.agent, tools: toolsAsGiven(options.agent.tools) };
		this.#options = { ...options, agent };
		this.#keys = keys;
		this.agents = new TurnAgents(this.#options);
		const { ids, clock } = agent.ports ?? {};
		this.#parts = {
			host,
			agents: this.agents,
			setups: this.#setups,
			agentOf: (key, caller) => options.agentFor?.({ sessionKey: key, namespace: undefined, caller }),
			keyed: () => this.#keyed(),
			isClosed: () => this.#isClosed,
			accepting: new Map(),
			newId: () => ids?.uuid() ?? globalThis.crypto.randomUUID(),
			now: () => clock?.now() ?? Date.now(),
		};
	}

	/** The session of a key, whether or not it is there. Costs nothing until it is used. */
	session(key: string): ExecuteSession {
		return new ExecuteSession(this.#parts, key, this.#keys.storeKeyOf(key));
	}

	/**
	 * Works in the background until it is closed: resumes what dead processes left, and lets calls fail whose time is over.
	 * Resolves when it has looked for such work once. `lookEveryMs`: milliseconds between two looks, by default 500.
	 */
	supervise(options: { readonly lookEveryMs?: number | undefined } = {}): Promise<void> {
		return this.#keyed().supervise(options);
	}

	/** Works on what is due until the signal fires or the sessions are closed; yields each run as it is resumed. */
	work(options?: WorkOptions): AsyncGenerator<AgentRun, void, void> {
		return this.#keyed().work(options);
	}

	/** Resolves when no run is under way in this process. */
	async quiet(): Promise<void> {
		await this.#sessions?.quiet();
	}

	/** Suspends the runs under way, to be resumed elsewhere. Nothing is begun here any more. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await this.#sessions?.close();
	}

	#keyed(): AgentSessions {
		if (this.#isClosed) throw agentClosed();
		if (this.#sessions !== undefined) return this.#sessions;
		const { namespace: _, instructions, ...given } = this.#options.agent;
		const system = given.system ?? instructions;
		const agent: AgentOptions = {
			...given,
			host: this.#options.host,
			...(system === undefined ? {} : { system }),
		};
		this.#sessions = new AgentSessions(this.#parts.newId(), agent, {
			agentFor: ({ sessionKey, caller }) => this.#agentFor(sessionKey, caller),
			keys: this.#keys,
			observe: this.#options.observe,
		});
		return this.#sessions;
	}

	async #agentFor(key: string, caller: Caller | undefined): Promise<TurnOptions> {
		const { host } = this.#options;
		const setup = this.#setups.of(key) ?? (await readSetup(host, this.#keys.storeKeyOf(key)));
		if (setup === undefined) throw sessionNotFound();
		const own = await this.#parts.agentOf(key, caller);
		return this.agents.of(setup, { model: this.#setups.modelOf(key), own });
	}
}

/** What is wrong is said when the sessions are made, and not to the first who asks for one. */
function checkParts({ host, agent, models, agentFor }: ExecuteSessionsOptions): void {
	if (typeof host?.journal !== "object")
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `host` must be a host: what `sqliteHost()` or `memoryHost()` returned.",
		);
	if (typeof agent !== "object" || agent === null)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `agent` must be an agent, or the options of one.",
		);
	checkNames(agent);
	if (agent.checkpoints !== undefined)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `checkpoints` belongs to calls such as generate(); sessions keep their own state. Leave it out.",
		);
	const mayCome = models !== undefined || agentFor !== undefined;
	if (agent.model !== undefined || !mayCome) checkModel(agent);
	checkOptions(agent);
}
