// Recovers one session without a known owner: resumes its open run or starts its first turn, unless another process owns
// it.
import {
	childPrefix,
	type Journal,
	type ListOptions,
	readChildStoreKey,
	type SessionHead,
} from "../host/index.ts";
import { AgentRun } from "./agent-run.ts";
import { kill } from "./remove-session.ts";
import { readState, resume } from "./session-requests.ts";
import type { SessionTable } from "./session-table.ts";
import { storeKeysWith } from "./store-keys.ts";

/** Milliseconds by which the clocks of machines may differ and a commit may be late. */
const clocksDiffer = 600_000;

/** One in this number of searches for reminders covers all tasks that ever existed. */
const searchesToWhole = 60;

/**
 * Resumes a run that was left open, or begins a queued turn. Returns null if there is neither, or if the session's parent
 * is responsible.
 */
export async function recoverSession(root: SessionTable, storeKey: string): Promise<AgentRun | null> {
	const table = root.tableOf(storeKey);
	if (table === undefined) return recoverRemoved(root, storeKey);
	const child = readChildStoreKey(storeKey);
	if (child === undefined) return resume(table.queue(table.keyOf(storeKey) ?? storeKey));
	const found = await root.tableOf(child.parentStoreKey)?.agent.children?.adopt(storeKey);
	if (found === "abandoned") await kill(table, table.queue(storeKey));
	if (found === "under-way") return resume(table.queue(storeKey));
	return found === "with-parent" ? recoverSession(root, child.parentStoreKey) : null;
}

/**
 * A session of another agent, or of a sub-agent that a deployment removed. The latter cannot be continued, so it ends
 * with the run that delegated to it.
 */
async function recoverRemoved(root: SessionTable, storeKey: string): Promise<AgentRun | null> {
	const child = readChildStoreKey(storeKey);
	if (child === undefined) return null;
	const { parentStoreKey } = child;
	const parent = root.tableOf(parentStoreKey);
	if (parent === undefined) return recoverRemoved(root, parentStoreKey);
	const head = await parent.journal.head(parentStoreKey);
	if (head?.openRunId === undefined) {
		if (await isOwn(parent, parentStoreKey)) await kill(parent, parent.queueOf(storeKey, storeKey));
		return null;
	}
	const [last] = await parent.journal.read(parentStoreKey, { after: head.seq - 1 });
	return last?.fact.kind === "waiting" ? recoverSession(root, parentStoreKey) : null;
}

/**
 * Whether this agent made the last run of a session. Agents without a namespace see each other's sessions and are only
 * distinguished by name, so work that may be another agent's is left alone.
 */
async function isOwn(parent: SessionTable, storeKey: string): Promise<boolean> {
	const { namespace, engine } = parent.agent;
	if (namespace !== undefined) return true;
	const { run } = await readState(parent.queueOf(storeKey, parent.keyOf(storeKey) ?? storeKey));
	return engine.name !== undefined && run?.started.agentName === engine.name;
}

/**
 * Like `recoverSession`, for one session among many: also returns null if another worker was faster. A run that becomes
 * parked is returned as one that was left open.
 */
export async function takeOver(root: SessionTable, storeKey: string): Promise<AgentRun | null> {
	try {
		return await recoverSession(root, storeKey);
	} catch (error) {
		const { code, data } = error as { code?: unknown; data?: { runId: string; key: string } };
		if (code === "session_held") return null;
		const table = root.tableOf(storeKey);
		if (code !== "run_parked" || data === undefined || table === undefined) throw error;
		const run = new AgentRun(data.runId, data.key);
		run.abandon("parked", error, (await readState(table.queue(data.key))).agent);
		return run;
	}
}

/**
 * Finds unfinished work of a dead process that no other search finds: undelivered reminders of background tasks,
 * sub-agents that wait for an answer, or are parked, although the run that delegated to them has ended, and events that it
 * accepted for runs that wait.
 */
export class LeftOverSearch {
	readonly #table: SessionTable;
	/** When the last successful search began. */
	#searchedAt = 0;
	#searches = 0;

	constructor(table: SessionTable) {
		this.#table = table;
	}

	/**
	 * Delivers those reminders and ends those sub-agents. The first search covers all background tasks. Later ones cover
	 * only what changed since, except for a few that cover everything again, because clocks may be wrong. A sub-agent may
	 * be left behind long after its session changed, so `after-death` checks all that wait or are parked.
	 */
	async search(when: "after-death" | "in-time"): Promise<void> {
		const { agent, background, journal } = this.#table;
		if (agent.engine.decider.events !== undefined && when === "after-death") await this.#deliver();
		// An agent without sub-agents has only what its earlier releases left.
		if (agent.children === undefined && this.#searches > 0) return;
		const journals = new Set([journal, ...(agent.children?.elsewhere() ?? []).map((table) => table.journal)]);
		const began = agent.engine.ports.clock.now();
		const isWhole = began < this.#searchedAt || this.#searches++ % searchesToWhole === 0;
		const changedSince = isWhole ? 0 : this.#searchedAt - clocksDiffer;
		for (const each of journals) {
			if (background === "durable") await this.#finish(each, { changedSince });
			if (!isWhole && when === "in-time") continue;
			// The whole search for reminders has covered all sessions.
			if (background === "durable" && isWhole) continue;
			await this.#finish(each, { state: "waiting" });
			await this.#finish(each, { state: "open" }, isParked);
		}
		this.#searchedAt = began;
	}

	/** Continues waiting runs for which a dead process has accepted an event. */
	async #deliver(): Promise<void> {
		const table = this.#table;
		const hasInputs = ({ waiting }: SessionHead): boolean => waiting > 0;
		for await (const storeKey of storeKeysWith(table.journal, "", { state: "waiting" }, hasInputs)) {
			if (table.rootKeyOf(storeKey) === undefined) continue;
			const run = await takeOver(table, storeKey);
			run?.detach();
		}
	}

	async #finish(
		journal: Journal,
		only: Pick<ListOptions, "changedSince" | "state">,
		which?: (head: SessionHead) => boolean,
	): Promise<void> {
		for await (const storeKey of storeKeysWith(journal, childPrefix(), only, which)) {
			const parent = readChildStoreKey(storeKey)?.parentStoreKey ?? storeKey;
			if (this.#table.tableOf(storeKey) === undefined) await this.#endRemoved(journal, storeKey);
			else await this.#table.tableOf(parent)?.agent.children?.retell(storeKey);
		}
	}

	/** Waiting sessions are not among the orphaned ones. */
	async #endRemoved(journal: Journal, storeKey: string): Promise<void> {
		if ((await journal.head(storeKey))?.openRunId === undefined) return;
		const run = await takeOver(this.#table, storeKey);
		run?.detach();
	}
}

function isParked({ parked }: SessionHead): boolean {
	return parked === true;
}
