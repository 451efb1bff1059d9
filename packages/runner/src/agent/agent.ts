// An agent: what its sessions share, and its lifecycle. new → started → stopped; a failed start leaves it new.

import { checkOptions, HoldfastError, messageOf, optionNames, startTimer } from "@holdfast/upp";
import type { Agent as EngineAgent, Host } from "holdfast";
import {
	type ActionResult,
	type AgentConfig,
	type RunnerAgent as AgentContract,
	type AgentEventName,
	type AgentResult,
	type AuditRecord,
	type Health,
	type HealthCheck,
	type RunnerTool,
	type RunOptions,
	topics,
} from "../contract/index.ts";
import { DefaultRunner } from "./default-runner.ts";
import { makeEngineAgent } from "./engine-agent.ts";
import { LiveRuns } from "./live-runs.ts";
import type { Metrics } from "./metrics.ts";
import { checkMaxSteps, invalid } from "./read-config.ts";
import { replayRun } from "./replay.ts";
import { type Recording, type ResolvedAgent, resolveConfig } from "./resolved-agent.ts";
import { FixedClock, seededIds } from "./seeded.ts";
import { Session } from "./session.ts";

const runNames = optionNames<RunOptions>({
	maxSteps: true,
	task: "text",
	contextKey: "text",
	deterministic: "flag",
	seed: "number",
	sessionId: "text",
});

const eventNames: ReadonlySet<string> = new Set(["step", "tool", "error", "metrics"]);

/**
 * An accountable agent: it plans, acts and reflects under a policy, and records every run.
 *
 * @throws HoldfastError `CONFIG_INVALID`, `TOOL_DUPLICATE`, `SCHEMA_INVALID`, `RBAC_DENIED`.
 */
export class RunnerAgent implements AgentContract {
	readonly id: string;
	readonly #agent: ResolvedAgent;
	readonly #live: LiveRuns;
	readonly #runner: DefaultRunner;
	readonly #running = new Set<Session>();
	#engine: EngineAgent | undefined;
	#started: Promise<void> | undefined;
	#stopped: Promise<void> | undefined;

	/** Checks the configuration. `recording` is for replays. */
	constructor(config: AgentConfig, recording?: Recording) {
		this.#agent = resolveConfig(config, recording);
		this.id = config.id;
		this.#live = new LiveRuns(this.#agent);
		this.#runner = new DefaultRunner();
	}

	/** The built-in runner, which tracks the running sessions of this agent. */
	get runner(): DefaultRunner {
		return this.#runner;
	}

	/**
	 * The underlying agent of the engine: a message to one of its sessions is a task, so you can serve, watch, steer,
	 * stop and resume it like any other. It is replaced when a tool is registered.
	 */
	get engine(): EngineAgent {
		this.#engine ??= makeEngineAgent(this.#agent, this.#live);
		return this.#engine;
	}

	start(): Promise<void> {
		this.#started ??= this.#start().catch((error) => {
			this.#started = undefined;
			throw error;
		});
		return this.#started;
	}

	async #start(): Promise<void> {
		this.#checkAlive();
		const { config, router } = this.#agent;
		await router.start();
		await config.memoryClient?.start?.();
		await config.databaseClient?.start?.();
	}

	/** Never throws. */
	async health(): Promise<Health> {
		const { config, router } = this.#agent;
		const checks: HealthCheck[] = [...(await router.check())];
		for (const [name, client] of [
			["memory", config.memoryClient],
			["database", config.databaseClient],
		] as const) {
			if (client !== undefined) checks.push(await checked(name, async () => client.health?.()));
		}
		const shown = this.#agent.redactor.redact(checks);
		if (this.#stopped !== undefined) return { status: "stopped", checks: shown };
		return { status: checks.every(({ ok }) => ok) ? "ok" : "degraded", checks: shown };
	}

	/** @throws HoldfastError `AGENT_STOPPED`, `CONFIG_INVALID`. */
	createSession(given: RunOptions = {}): Session {
		checkOptions(given, runNames, { of: "createSession()" });
		this.#checkAlive();
		const options = this.#agent.redactor.maskSecrets(given);
		if (options.sessionId !== given.sessionId)
			throw invalid([["sessionId", "it contains a registered secret"]]);
		checkMaxSteps(options.maxSteps);
		const { agent, live, engine } = this.#of(options);
		const id = options.sessionId ?? agent.ports.ids.uuid();
		if (typeof id !== "string" || id === "") throw invalid([["sessionId", "it is not a string, or empty"]]);
		return new Session({
			id,
			options,
			agent,
			begin: async (task) => {
				live.created(id, options);
				const { maxSteps, contextKey, seed, deterministic } = options;
				if ([maxSteps, contextKey, seed, deterministic].some((option) => option !== undefined))
					await agent.host.values.values(id, "runner").set("options", { ...options });
				return engine().session(id).send(agent.redactor.maskSecrets(task));
			},
			take: (runId) => live.take(runId),
			runs: async (session) => {
				this.#running.add(session);
				try {
					await this.start();
					const { runner } = agent.config;
					const spec = { config: agent.config, options };
					if (runner === undefined) return await this.#runner.run(session);
					return agent.redactor.maskSecrets(await runner.run(session, spec));
				} finally {
					this.#running.delete(session);
				}
			},
			aborts: (session) => {
				const { runner } = agent.config;
				void (runner ?? this.#runner).abort(session.id).catch(() => {});
			},
			over: (session, result) => {
				live.forget(session.id);
				this.#over(result, agent.config.runner === undefined ? session.actions : undefined);
			},
		});
	}

	runOnce(options?: RunOptions): Promise<AgentResult> {
		try {
			return this.createSession(options).run();
		} catch (error) {
			return Promise.reject(error);
		}
	}

	run(options?: RunOptions): Promise<AgentResult> {
		return this.runOnce(options);
	}

	/** @throws HoldfastError `RBAC_DENIED`, `TOOL_INVALID`, `TOOL_DUPLICATE`, `SCHEMA_INVALID`. */
	registerTool(tool: RunnerTool): void {
		this.#agent.safety.checkPermission("tool:register", String(tool?.id));
		this.#agent.tools.register(tool);
		this.#engine = undefined;
	}

	getTool(id: string): RunnerTool | undefined {
		return this.#agent.tools.get(id);
	}

	listTools(): readonly RunnerTool[] {
		return this.#agent.tools.list();
	}

	/** @throws HoldfastError `EVENT_UNKNOWN`. */
	on(event: AgentEventName, handler: (data: unknown) => void): void {
		if (!eventNames.has(event))
			throw new HoldfastError(
				"EVENT_UNKNOWN",
				`There is no event "${event}". Events: ${[...eventNames].join(", ")}.`,
			);
		const { handlers } = this.#agent;
		handlers.set(event, [...(handlers.get(event) ?? []), handler]);
	}

	/**
	 * Returns the policy decisions of a session, in order; without a session, the decisions about the agent as a whole.
	 */
	async audit(sessionId?: string): Promise<readonly AuditRecord[]> {
		return auditOf(this.#agent.host, sessionId ?? this.id);
	}

	/**
	 * Replays a recorded run: models and tools return what they returned then, and nothing live is called. Returns the
	 * result, redacted like the record.
	 *
	 * Rejects with `REPLAY_DIVERGED` and the first event that differs in `data`, with `RECORD_INCOMPLETE`,
	 * `RECORD_ALTERED`, `RUN_NOT_FOUND`, and with `CONFIG_INVALID` without an `eventStore`.
	 */
	async replay(runId: string): Promise<AgentResult> {
		const { config } = this.#agent;
		if (config.eventStore === undefined) throw invalid([["eventStore", "a replay needs a recorded run"]]);
		return replayRun(
			config,
			config.eventStore,
			runId,
			(given, recording) => new RunnerAgent(given, recording),
		);
	}

	/** Returns totals over all runs so far. */
	metrics(): Metrics {
		return this.#agent.metrics.read();
	}

	/** Waits for running sessions, aborts those that take too long, closes every client. Never rejects. */
	stop(): Promise<void> {
		this.#stopped ??= this.#stop();
		return this.#stopped;
	}

	async #stop(): Promise<void> {
		const { config, router, ports } = this.#agent;
		const over = (): Promise<void> => this.#idle();
		const late = await new Promise<boolean>((resolve) => {
			const callOff = ports.timers.after(config.shutdownTimeoutMs ?? 10_000, () => resolve(true));
			void over().then(() => {
				callOff();
				resolve(false);
			});
		});
		if (late) {
			for (const session of this.#running) session.abort();
			await over();
		}
		await router.close();
		const stores = new Set([config.memoryClient, config.databaseClient]);
		await Promise.allSettled([...stores].map(async (client) => client?.close?.()));
		await this.#engine?.close();
	}

	#idle(): Promise<void> {
		return new Promise((resolve) => {
			const look = (): void => {
				if (this.#running.size === 0) resolve();
				else this.#waiters.push(look);
			};
			look();
		});
	}

	readonly #waiters: (() => void)[] = [];

	#over(result: AgentResult, actions: Iterable<ActionResult> | undefined): void {
		const { metrics, handlers } = this.#agent;
		metrics.add(result, actions);
		const listening = handlers.get("metrics") ?? [];
		const figures = listening.length === 0 ? undefined : metrics.read();
		for (const handler of listening) {
			try {
				handler(figures);
			} catch {}
		}
		for (const waiter of this.#waiters.splice(0)) waiter();
	}

	/** Returns the context of a session's run: a deterministic session derives ids and times from its seed. */
	#of(options: RunOptions): { agent: ResolvedAgent; live: LiveRuns; engine(): EngineAgent } {
		if (options.deterministic !== true) {
			return {
				agent: this.#agent,
				live: this.#live,
				engine: () => this.engine,
			};
		}
		if (!this.#agent.router.deterministic)
			throw invalid([
				["modelProviders", "a deterministic session needs clients that are marked `deterministic`"],
			]);
		const { config, ports } = this.#agent;
		const clock = config.ports?.clock ?? new FixedClock(0);
		const timers = clock instanceof FixedClock ? timersOf(clock) : ports.timers;
		const seeded = { ...ports, clock, timers, ids: seededIds(options.seed ?? 0) };
		const agent: ResolvedAgent = { ...this.#agent, ports: seeded };
		const live = new LiveRuns(agent);
		let engine: EngineAgent | undefined;
		return { agent, live, engine: () => (engine ??= makeEngineAgent(agent, live)) };
	}

	#checkAlive(): void {
		if (this.#stopped !== undefined)
			throw new HoldfastError("AGENT_STOPPED", `The agent ${this.id} was stopped. Create another one.`);
	}
}

/** Timers that do not wait: they advance the clock instead. */
function timersOf(clock: FixedClock): { after(milliseconds: number, wake: () => void): () => void } {
	return {
		after(milliseconds, wake) {
			return startTimer(milliseconds, () => {
				clock.advance(milliseconds);
				wake();
			});
		},
	};
}

async function checked(name: string, check: () => Promise<unknown>): Promise<HealthCheck> {
	try {
		await check();
		return { name, ok: true };
	} catch (error) {
		return { name, ok: false, message: messageOf(error) };
	}
}

/**
 * Returns the audit of a session: records that share an append with their subject, and those that were stored separately.
 */
async function auditOf(host: Host, sessionKey: string): Promise<readonly AuditRecord[]> {
	const entries = await host.journal.read(sessionKey);
	const inJournal = entries.flatMap(({ fact }) =>
		fact.kind === "note" && fact.topic === topics.audit ? [fact.value as AuditRecord] : [],
	);
	const apart = await host.values.values(sessionKey, "runner.audit").list();
	const records = [...inJournal, ...apart.map(({ value }) => value as AuditRecord)];
	return records.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}
