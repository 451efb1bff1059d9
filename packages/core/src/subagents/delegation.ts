// The sub-agents of an agent within one table of its sessions: their sessions, on the same journal, and the tools that
// delegate to them. Created for each table, because a sub-agent's own sub-agents work in the store of its parent's
// sessions.
import type { EngineAgent, ObserveRun, Run } from "../engine/index.ts";
import type { PendingToolCall, SessionState, ToolAnswer, WaitingChild } from "../facts/index.ts";
import { readChildStoreKey } from "../host/index.ts";
import {
	type AgentRun,
	answeredElsewhere,
	forwarded,
	kill,
	resume,
	type SessionAgent,
	type SessionChildren,
	SessionTable,
	type TurnRequest,
} from "../sessions/index.ts";
import type { AnyTool } from "../tools/index.ts";
import { BackgroundJobs } from "./background-jobs.ts";
import { backgroundTools } from "./background-tools.ts";
import type { Subagent } from "./check-subagents.ts";
import { endWaiting, waitsStill } from "./child-task.ts";
import { delegateTool } from "./delegate-tool.ts";
import { type OwnerOfTool, sessionTool, subagentOfTool, workOf } from "./session-tool.ts";
import { readTaskKey } from "./task-key.ts";
import {
	admitAnswers,
	answerChildren,
	haveNews,
	pendingOf,
	refuseAnswered,
	type WaitingWork,
	waitingTasks,
} from "./waiting-children.ts";

/** Returns one of the agent's tools as bound to the sessions of one table. */
export type BindTool = (tool: AnyTool, owner: OwnerOfTool) => AnyTool;

/** Returns the agent within one table. `engineWith` returns the engine's view of it with additional tools. */
export function delegatingAgent(
	agent: SessionAgent,
	subagents: readonly Subagent[],
	table: SessionTable,
	engineWith: (tools: readonly AnyTool[], bind: BindTool) => EngineAgent,
): SessionAgent {
	const delegation = new Delegation(subagents, table);
	const bind: BindTool = (tool, owner) => delegation.bind(tool, owner);
	const { resolve } = agent;
	let base: EngineAgent | undefined;
	let engine: EngineAgent | undefined;
	return forwarded(agent, {
		// Plugins change the agent once they are set up.
		get engine() {
			if (engine === undefined || base !== agent.engine) engine = engineWith(delegation.tools, bind);
			base = agent.engine;
			return engine;
		},
		...(resolve && { resolve: (turn: TurnRequest) => resolve(turn, delegation.tools, bind) }),
		children: delegation,
	});
}

class Delegation implements SessionChildren {
	readonly tools: readonly AnyTool[];
	readonly #tables: ReadonlyMap<string, () => SessionTable>;
	readonly #elsewhere: readonly (() => SessionTable)[];
	/** The sessions of sub-agents that are tools, by `subagentOfTool`. */
	readonly #ofTools = new Map<string, () => SessionTable>();
	readonly #made: SessionTable[] = [];
	readonly #jobs: BackgroundJobs;
	readonly #parent: SessionTable;

	constructor(subagents: readonly Subagent[], parent: SessionTable) {
		this.#parent = parent;
		this.#tables = new Map(
			subagents.map((subagent) => [subagent.name, once(() => this.#makeTable(subagent, parent))]),
		);
		const apart = subagents.filter(({ agent }) => keepsApart(agent, parent));
		this.#elsewhere = apart.map(({ name }) => this.#tables.get(name) as () => SessionTable);
		this.#jobs = new BackgroundJobs(parent, this.#tables);
		const tools = subagents.map((subagent) => {
			const child = this.#tables.get(subagent.name) as () => SessionTable;
			return delegateTool(subagent, parent, child, this.#jobs);
		});
		const inBackground =
			parent.background === undefined ? [] : backgroundTools(parent, this.#tables, this.#jobs);
		this.tools = [...tools, ...inBackground];
	}

	tableOf(subagent: string): SessionTable | undefined {
		if (this.#tables.has(subagent)) return this.#tables.get(subagent)?.();
		// The sub-agent's tools are bound with the engine.
		if (!this.#ofTools.has(subagent)) void this.#parent.agent.engine;
		return this.#ofTools.get(subagent)?.();
	}

	/** Gives a tool of `createSubAgentTool` its own sessions; returns any other tool unchanged. */
	bind(tool: AnyTool, owner: OwnerOfTool): AnyTool {
		const work = workOf(tool);
		const { model, config } = owner;
		const agent = work?.agentFor({ model, config, policed: this.#parent.agent });
		if (work === undefined || agent === undefined) return tool;
		const name = subagentOfTool(tool.name);
		const table = once(() => this.#makeTable({ agent }, this.#parent));
		this.#ofTools.set(name, table);
		return sessionTool(tool, work, this.#parent, table);
	}

	elsewhere(): readonly SessionTable[] {
		return this.#elsewhere.map((table) => table());
	}

	driven(storeKey: string, run: Run, over: Promise<unknown>): void {
		this.#jobs.driven(storeKey, run, over);
	}

	hasNews(state: SessionState): Promise<boolean> {
		return haveNews((subagent) => this.tableOf(subagent), state);
	}

	async answer(
		{ storeKey, run }: { readonly storeKey: string; readonly run: SessionState["run"] },
		answers: readonly ToolAnswer[],
		check: () => void,
	): Promise<{ readonly foreground: number; readonly background?: AgentRun | undefined }> {
		const inForeground = inForegroundOf(run);
		const inBackground = await waitingTasks(storeKey, this.#tables);
		const all = [...inForeground, ...inBackground];
		const continued = await answerChildren((subagent) => this.tableOf(subagent), all, answers, check);
		const ofTasks = new Set(inBackground);
		const tasks = continued.filter((work) => ofTasks.has(work));
		let background: AgentRun | undefined;
		for (const { child } of tasks) background = (await this.#continue(child)) ?? background;
		return { foreground: continued.length - tasks.length, background };
	}

	refuseAnswered(
		{ run }: { readonly storeKey: string; readonly run: SessionState["run"] },
		answers: readonly ToolAnswer[],
	): Promise<void> {
		return refuseAnswered((subagent) => this.tableOf(subagent), inForegroundOf(run), answers);
	}

	admitAnswers(
		{ run }: { readonly storeKey: string; readonly run: SessionState["run"] },
		answers: readonly ToolAnswer[],
	): Promise<readonly ToolAnswer[]> {
		return admitAnswers((subagent) => this.tableOf(subagent), inForegroundOf(run), answers);
	}

	/**
	 * Continues background work that was answered, including the work of the sub-agents that it waited for. The answers
	 * are recorded: if this process cannot continue the work, another one does.
	 */
	async #continue({ agent, storeKey }: WaitingChild): Promise<AgentRun | undefined> {
		const task = readTaskKey(storeKey);
		const table = this.tableOf(agent);
		if (task === undefined || table === undefined) return undefined;
		this.#jobs.start(task);
		const queue = table.queue(storeKey);
		const run = await resume(queue).catch(() => null);
		run?.detach();
		return run ?? answeredElsewhere(queue.actor, task.runId);
	}

	async pendingInBackground(storeKey: string): Promise<readonly PendingToolCall[]> {
		if (this.#parent.background === undefined) return [];
		return (await waitingTasks(storeKey, this.#tables)).flatMap(pendingOf);
	}

	async end({ run }: SessionState): Promise<void> {
		await Promise.all(this.#tasksOf(run).map(({ table, ...task }) => endWaiting(table, task)));
	}

	async endLeft({ run }: SessionState, children: readonly WaitingChild[]): Promise<void> {
		for (const { table, ...task } of this.#tasksOf(run, children))
			if (await waitsStill(table, task)) await endWaiting(table, task);
	}

	#tasksOf(run: SessionState["run"], children = run?.children ?? []) {
		return children.flatMap(({ callId, agent, storeKey }) => {
			const { started } = run?.calls.withId(callId) ?? {};
			const table = this.tableOf(agent);
			return table === undefined || started === undefined
				? []
				: [{ table, storeKey, runId: started.idempotencyKey }];
		});
	}

	async adopt(storeKey: string): Promise<"under-way" | "none" | "abandoned" | "with-parent"> {
		const task = readTaskKey(storeKey);
		if (task !== undefined) return this.#jobs.adopt(task);
		const { journal } = this.#parent;
		const parentKey = readChildStoreKey(storeKey)?.parentStoreKey ?? "";
		const parent = await journal.head(parentKey);
		if (parent?.openRunId === undefined) return "abandoned";
		const [last] = await journal.read(parentKey, { after: parent.seq - 1 });
		return last?.fact.kind === "waiting" ? "with-parent" : "none";
	}

	async retell(storeKey: string): Promise<void> {
		const task = readTaskKey(storeKey);
		if (task !== undefined) return this.#jobs.retell(task);
		const table = this.tableOf(readChildStoreKey(storeKey)?.subagent ?? "");
		if (table === undefined || (await table.journal.head(storeKey))?.openRunId === undefined) return;
		// The parent ended while this work waited, and its process died before it could end the work.
		if ((await this.adopt(storeKey)) === "abandoned") await kill(table, table.queue(storeKey));
	}

	async close(): Promise<void> {
		await this.#jobs.close();
		await Promise.all(this.#made.map((table) => table.close()));
	}

	#makeTable({ agent }: Pick<Subagent, "agent">, parent: SessionTable): SessionTable {
		const { home } = agent;
		const at = home !== undefined && keepsApart(agent, parent) ? home : parent;
		const { journal, records, store, data } = at;
		const inStore = data === undefined ? agent : (agent.inStore?.(data) ?? agent);
		const { background, journal: askers, observe } = parent;
		const ofRoot: ObserveRun = (run) =>
			observe?.({ ...run, sessionKey: parent.rootKeyOf(run.sessionKey) ?? run.sessionKey });
		const table = new SessionTable(inStore, journal, {
			background,
			records,
			store,
			data,
			askers,
			keys: "store-keys",
			...(observe === undefined ? {} : { observe: ofRoot }),
		});
		this.#made.push(table);
		return table;
	}
}

/** Returns the work that a run waits for. */
function inForegroundOf(run: SessionState["run"]): readonly WaitingWork[] {
	return (run?.children ?? []).map((child) => ({ child, runId: run?.runId ?? "" }));
}

/** Whether an agent keeps its sessions in a different store than its parent. */
function keepsApart({ home }: SessionAgent, parent: SessionTable): boolean {
	return home !== undefined && home.store !== parent.store;
}

function once<T>(make: () => T): () => T {
	let made: { readonly value: T } | undefined;
	return () => {
		made ??= { value: make() };
		return made.value;
	};
}
