// The sessions of one agent on one host: where they are kept, who works on them, and which agent each turn gets. The
// Agent class is a face of it; who serves sessions uses it as it is, one for all sessions of a namespace.
import { HoldfastError } from "@holdfast/upp";
import type { EngineAgent } from "../engine/index.ts";
import { type AgentExecution, agentExecution } from "../execution-host/index.ts";
import { type Host, memoryHost } from "../host/index.ts";
import type { PolicyAgent } from "../policy/index.ts";
import {
	type AgentRun,
	orphanedPlaces,
	Session,
	type SessionAgent,
	SessionTable,
} from "../sessions/index.ts";
import { adaptExecutionHost, resolveHost } from "../stores/index.ts";
import { checkSubagents } from "../subagents/index.ts";
import { type AgentOptions, resolveAgent } from "./options.ts";
import { type AgentFor, sessionAgentOf } from "./session-agent.ts";
import { type WorkOptions, workOn } from "./work.ts";

/** How the sessions of an agent differ from the agent. */
export interface AgentSessionsOptions {
	/** The agent as the caller knows it: sub-agents are found by it, and policy is shown it. Default: its options. */
	readonly owner?: PolicyAgent;
	/** What a turn's agent has in place of the agent's own options. Default: nothing. */
	readonly agentFor?: AgentFor;
}

/** By this member sessions find what they know of an agent; a map of all agents would cost each of them more. */
export const sessionAgent: unique symbol = Symbol("session agent");

/**
 * A service of sessions makes one a namespace, not one a session: `agentFor` gives each turn the model, instructions,
 * tools and parameters that its session has now.
 */
export class AgentSessions {
	/** The agent as its sessions see it. */
	readonly agent: SessionAgent;
	readonly #engine: EngineAgent;
	readonly #options: AgentOptions;
	/** Whether the agent of a turn may have a model where this one has none. */
	readonly #isResolved: boolean;
	#host: Host | undefined;
	#table: SessionTable | undefined;
	#execution: AgentExecution | undefined;
	/** Ends the work that goes on until the agent is closed. */
	#closing: AbortController | undefined;

	/** @throws TypeError naming the option that is wrong; what `resolveAgent` throws. */
	constructor(
		id: string,
		options: AgentOptions,
		{ owner, agentFor }: AgentSessionsOptions = {},
		engine: EngineAgent = resolveAgent(id, options),
	) {
		this.#options = options;
		this.#engine = engine;
		this.#isResolved = agentFor !== undefined;
		if (options.host !== undefined) this.#host = resolveHost(options.host, adaptExecutionHost);
		const subagents = checkSubagents(
			options.subagents,
			options,
			(each) => (each as { readonly [sessionAgent]?: SessionAgent })[sessionAgent],
		);
		this.#execution = this.#host && agentExecution(this.#host, engine.ports, options.namespace);
		this.agent = sessionAgentOf({ agent: owner ?? { ...options, id }, options, engine, subagents, agentFor });
	}

	/** Resolves when the plugins are set up. */
	async ready(): Promise<void> {
		await this.agent.setup?.over();
	}

	/** A handle of the session of a key. */
	session(key: string): Session {
		return new Session(this.#open(), key);
	}

	async *recover(): AsyncGenerator<AgentRun, void, void> {
		const table = this.#readyTable();
		for (const place of await orphanedPlaces(table.journal)) {
			const run = await table.takeOver(place);
			if (run !== null) yield run;
		}
		await table.watchDeadlines("ever");
		await table.recoverReminders();
	}

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

	work({ signal, ...options }: WorkOptions = {}): AsyncGenerator<AgentRun, void, void> {
		const { ports } = this.#engine;
		this.#closing ??= new AbortController();
		const closing = this.#closing.signal;
		const either = signal === undefined ? closing : AbortSignal.any([closing, signal]);
		return workOn(
			{ table: this.#readyTable(), execution: this.#execution, ports },
			{ ...options, signal: either },
		);
	}

	/**
	 * Suspends the runs under way and closes the host if it is this agent's own. `before` is done in between.
	 * @throws HoldfastError `agent_not_ready` within a plugin's setup.
	 */
	async close(before?: () => Promise<void>): Promise<void> {
		this.agent.setup?.check();
		this.#closing?.abort();
		await this.#table?.close();
		await before?.();
		if (this.#host !== this.#options.host) await this.#host?.close();
	}

	/** For what a plugin's setup must not do, for the agent waits for it. */
	#readyTable(): SessionTable {
		this.agent.setup?.check();
		return this.#open();
	}

	#open(): SessionTable {
		if (!this.#isResolved) this.#engine.model(); // throws where there is none
		this.#host ??= this.agent.host ?? memoryHost();
		const { journal, capabilities = inProcess } = this.#host;
		this.#table ??= new SessionTable(this.agent, journal, {
			background: capabilities.backgroundSubagents,
			records: this.#execution?.records,
		});
		return this.#table;
	}
}

/** What hosts can do that do not say. */
const inProcess = { backgroundSubagents: "in-process" } as const;
