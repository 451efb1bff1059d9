// The `createSession` sessions of one host: a table of keyed sessions, each of whose turns is driven by the agent that
// the session has at that time (keeps I1: there is no loop here). A session is held in memory only while it is used.
import { checkOptions, HoldfastTypeError, optionNames } from "@holdfast/upp";
import {
	type AgentFor,
	type AgentOptions,
	AgentSessions,
	checkAgentOptions,
	checkModel,
	checkNames,
	type TurnOptions,
	toolsAsGiven,
} from "../agent/index.ts";
import type { Caller } from "../caller/index.ts";
import type { ObserveRun } from "../engine/index.ts";
import type { Host, SessionKeys } from "../host/index.ts";
import { keysOf, systemPorts, systemWarn } from "../host/index.ts";
import { agentClosed, Lifecycle, type Living, type OwnLife } from "../sessions/index.ts";
import { sessionNotFound } from "./execute-errors.ts";
import { ExecuteSession } from "./execute-session.ts";
import { readSetup } from "./session-setup.ts";
import type { SharedParts } from "./shared-parts.ts";
import { type TurnAgentParts, TurnAgents } from "./turn-agents.ts";
import { TurnSetups } from "./turn-setups.ts";

const executeSessionsNames = optionNames<ExecuteSessionsOptions>({
	host: true,
	keys: true,
	agentFor: "function",
	observe: true,
	life: true,
	agent: true,
	models: true,
	bound: true,
	checkedSchema: true,
});

/** Options of `ExecuteSessions`. */
export interface ExecuteSessionsOptions extends TurnAgentParts {
	/** Where the sessions are stored. */
	readonly host: Host;
	/** Maps session keys to journal keys. Default: unchanged. */
	readonly keys?: SessionKeys;
	/**
	 * Returns the options that replace those of `agent` in a session's turns. Called when the session is created, and
	 * before each turn and each resume. Returning the same object selects the same agent, so cache and reuse it. Default:
	 * none.
	 */
	readonly agentFor?: AgentFor | undefined;
	/** Observes each run that is driven in this process. Default: none. */
	readonly observe?: ObserveRun | undefined;
	/** Additional lifecycle hooks of the sessions' owner. Default: none. */
	readonly life?: OwnLife | undefined;
}

/**
 * The sessions behind `createSession()` and servers. Each has its own stored context and options, from which the agent of
 * its turns is built.
 */
export class ExecuteSessions {
	/** Creates and caches the agents of turns. */
	readonly agents: TurnAgents;
	readonly #options: ExecuteSessionsOptions;
	readonly #keys: SessionKeys;
	readonly #setups = new TurnSetups();
	readonly #parts: SharedParts;
	#lifecycle: Lifecycle | undefined;
	#sessions: AgentSessions | undefined;
	#isSuspended = false;

	/**
	 * @throws HoldfastError `invalid_option` naming the option that is missing, unknown or invalid; `invalid_tool`,
	 * `duplicate_tool`.
	 */
	constructor(options: ExecuteSessionsOptions) {
		checkOptions(options, executeSessionsNames, { of: "new ExecuteSessions()" });
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
			isClosed: () => this.#isSuspended,
			accepting: new Map(),
			newId: () => ids?.uuid() ?? globalThis.crypto.randomUUID(),
			now: () => clock?.now() ?? Date.now(),
		};
	}

	/**
	 * Recovers, supervises and closes the sessions. Created when first needed, because a standalone session needs none.
	 */
	get lifecycle(): Lifecycle {
		this.#lifecycle ??= new Lifecycle(this.#living(), this.#options.life);
		return this.#lifecycle;
	}

	/** Returns the session of a key, existing or not. Costs nothing until you use it. */
	session(key: string): ExecuteSession {
		return new ExecuteSession(this.#parts, key, this.#keys.storeKeyOf(key));
	}

	#living(): Living {
		const { ports, onWarning = systemWarn } = this.#options.agent;
		return {
			ports: { ...systemPorts, ...ports },
			warn: onWarning,
			check: () => this.#sessions?.check(),
			supervisor: () => this.#keyed().supervisor(),
			refuse: () => this.#sessions?.refuse(),
			quiet: async () => this.#sessions?.quiet(),
			suspend: async () => {
				this.#isSuspended = true;
				await this.#sessions?.suspend();
			},
			release: async () => this.#sessions?.release(),
		};
	}

	#keyed(): AgentSessions {
		if (this.#isSuspended) throw agentClosed();
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

/** Reports problems when the sessions are created, rather than to their first user. */
function checkParts({ host, agent, models, agentFor }: ExecuteSessionsOptions): void {
	if (typeof host?.journal !== "object")
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `host` must be a host, such as the return value of `sqliteHost()` or `memoryHost()`.",
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
	checkAgentOptions(agent);
}
