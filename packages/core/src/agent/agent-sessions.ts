// The sessions of one agent on one host: their storage, their workers, and the agent of each turn. The Agent class
// delegates to it. A server uses one directly for all the sessions it serves.
import { HoldfastError } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { EngineAgent, ObserveRun } from "../engine/index.ts";
import { type AgentExecution, agentExecution } from "../execution-host/index.ts";
import { type Host, type Journal, keysOf, memoryHost, type SessionKeys } from "../host/index.ts";
import type { PolicyAgent } from "../policy/index.ts";
import {
	type AgentRun,
	LeftOverSearch,
	type Living,
	Session,
	type SessionAgent,
	SessionTable,
	Supervisor,
	takeOver,
} from "../sessions/index.ts";
import { checkSubagents } from "../subagents/index.ts";
import { adaptExecutionHost } from "./foreign-host.ts";
import { type AgentOptions, opaqueOf, resolveAgent } from "./options.ts";
import { resolveHost, withoutEmptyHost } from "./resolve-host.ts";
import { type AgentFor, sessionAgentOf } from "./session-agent.ts";

/** How the sessions of an agent differ from the agent. */
export interface AgentSessionsOptions {
	/**
	 * The agent that the caller created: sub-agents are looked up by it, and policy receives it. Default: its options.
	 */
	readonly owner?: PolicyAgent;
	/** Returns the options of a turn that replace the agent's own. Default: none. */
	readonly agentFor?: AgentFor;
	/** The keys under which its sessions are stored. Default: their own keys, in the namespace of the options. */
	readonly keys?: SessionKeys;
	/** Observes each run that this process drives, including runs of sub-agents. Default: no observer. */
	readonly observe?: ObserveRun | undefined;
	/** The agent's engine, if it was already created. @internal */
	readonly engine?: EngineAgent;
}

/**
 * The member through which sessions find their data about an agent. A global map of agents would cost each of them more.
 */
export const sessionAgent: unique symbol = Symbol("session agent");

/**
 * A service creates one of these instead of one agent per session: `agentFor` returns the model, instructions, tools and
 * parameters of each turn.
 */
export class AgentSessions implements Living {
	/** The agent in the form that its sessions use. @internal */
	readonly agent: SessionAgent;
	readonly #engine: EngineAgent;
	readonly #options: AgentOptions;
	readonly #observe: ObserveRun | undefined;
	/** Whether the agent of a turn may have a model even if this one has none. */
	readonly #isResolved: boolean;
	#host: Host | undefined;
	#table: SessionTable | undefined;
	#supervises: Supervisor | undefined;
	#execution: AgentExecution | undefined;
	/** The initial stage of new tables. */
	#stage: "open" | "refusing" | "suspended" = "open";

	/** @throws HoldfastError `invalid_option` naming the invalid option, and the errors of `resolveAgent`. */
	constructor(
		id: string,
		given: AgentOptions,
		{ owner, agentFor, keys = keysOf(given.namespace), observe, ...made }: AgentSessionsOptions = {},
	) {
		const { engine = resolveAgent(id, given) } = made;
		const options = withoutEmptyHost(given);
		this.#options = options;
		this.#observe = observe;
		this.#engine = engine;
		this.#isResolved = agentFor !== undefined;
		if (options.host !== undefined) this.#host = resolveHost(options.host, adaptExecutionHost);
		const subagents = checkSubagents(
			options.subagents,
			options,
			(each) => (each as { readonly [sessionAgent]?: SessionAgent })[sessionAgent],
		);
		this.#execution = this.#host && agentExecution(this.#host, engine.ports, keys);
		const agent = owner ?? { ...options, id };
		const home = this.#host && {
			...this.#home(this.#host),
			records: this.#execution?.records,
			data: this.#host,
		};
		this.agent = sessionAgentOf({ agent, options, engine, subagents, agentFor, keys, home });
	}

	/** Resolves once the plugins are set up. */
	async ready(): Promise<void> {
		await this.agent.setup?.over();
	}

	/** Returns a handle of the session with this key. */
	session(key: string): Session {
		return new Session(this.#open(), key);
	}

	/** Returns the agent of the next turn of the session with this key, with what plugins and sub-agents add to it. */
	async agentOfTurn(key: string, caller: Caller | undefined): Promise<EngineAgent> {
		await this.ready();
		const { agent } = this.#open();
		const { namespace } = agent;
		return (await agent.resolve?.({ sessionKey: key, namespace, caller })) ?? agent.engine;
	}

	/** Continues a run that the host keeps. Rejects with `no_execution_host`; null if there is nothing to do. */
	async resume(runId: string): Promise<AgentRun | null> {
		const table = this.#readyTable();
		if (this.#execution === undefined) {
			throw new HoldfastError(
				"no_execution_host",
				"resume(runId) needs a host that keeps runs: give sqliteHost(), createInMemoryExecutionHost() or another ExecutionHost as `host`.",
			);
		}
		return this.#execution.resume(table, runId);
	}

	get ports(): Living["ports"] {
		return this.#engine.ports;
	}

	warn(warning: HoldfastError): void {
		this.agent.warn(warning);
	}

	check(): void {
		this.agent.setup?.check();
	}

	refuse(): void {
		this.#stage = "refusing";
		this.#table?.drain();
	}

	async quiet(): Promise<void> {
		await this.#table?.quiet();
	}

	/** Whether this process is driving a run of the session with this key. */
	isBusy(key: string): boolean {
		return this.#table?.isBusy(key) === true;
	}

	/** Marks the session with this key as unused: it may be dropped from memory. */
	unused(key: string): void {
		this.#table?.unused(key);
	}

	async suspend(): Promise<void> {
		this.#stage = "suspended";
		await this.#table?.close(this.#isOwn && this.#host?.journal.volatile === true ? "lost" : "kept");
	}

	/** Closes the host if the agent owns it. */
	async release(): Promise<void> {
		if (this.#isOwn) await this.#host?.close();
	}

	get #isOwn(): boolean {
		return this.#host !== this.#options.host;
	}

	/** For operations that a plugin's setup must not use, because the agent waits for that setup. */
	#readyTable(): SessionTable {
		this.agent.setup?.check();
		return this.#open();
	}

	supervisor(): Supervisor {
		const table = this.#readyTable();
		if (this.#supervises !== undefined) return this.#supervises;
		const search = new LeftOverSearch(table);
		const execution = this.#execution;
		this.#supervises = new Supervisor({
			journal: table.journal,
			elsewhere: () => (table.agent.children?.elsewhere() ?? []).map(({ journal }) => journal),
			ports: this.#engine.ports,
			queue: this.#host?.queue,
			keyOf: (storeKey) => table.rootKeyOf(storeKey),
			takeOver: (storeKey) => takeOver(table, storeKey),
			watchesDeadline: (storeKey) => table.watchesDeadline(storeKey),
			onResumed: (notify) => table.onResumed(notify),
			finishLeftOver: (when) => search.search(when),
			scheduled: execution && {
				due: () => execution.due(table),
				resume: (runId) => execution.resume(table, runId),
				settle: (runId) => execution.settle(runId),
				watch: (notify) => execution.scheduler?.watch(notify) ?? (() => {}),
			},
		});
		return this.#supervises;
	}

	/** Two agents that share a session store each have their own journal. */
	#home({ journal }: Host): { readonly journal: Journal; readonly store: object } {
		const { sessionStore } = (this.#options.host ?? {}) as { readonly sessionStore?: object };
		return { journal, store: sessionStore ?? journal };
	}

	#open(): SessionTable {
		if (opaqueOf(this.#options) !== undefined) {
			throw new HoldfastError(
				"strategy_not_durable",
				"A custom strategy with its own `execute` cannot run in a session: nothing of it could be resumed. Make it with strategy({name, decide}), or call generate().",
			);
		}
		if (!this.#isResolved) this.#engine.model(); // throws without one
		this.#host ??= this.agent.host ?? memoryHost();
		const { journal, capabilities = inProcess } = this.#host;
		if (this.#table !== undefined) return this.#table;
		this.#table = new SessionTable(this.agent, journal, {
			background: capabilities.backgroundSubagents,
			records: this.#execution?.records,
			store: this.#home(this.#host).store,
			data: this.#host,
			observe: this.#observe,
		});
		if (this.#stage === "refusing") this.#table.drain();
		if (this.#stage === "suspended") void this.#table.close();
		return this.#table;
	}
}

/** The capabilities of hosts that declare none. */
const inProcess = { backgroundSubagents: "in-process" } as const;
