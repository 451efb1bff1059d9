// The sessions of one agent in this process: one worker object a key, kept while it works and a while after (keeps I7).
import { isAwaitedBy, withinCall } from "../engine/index.ts";
import { entriesAfter } from "../facts/index.ts";
import type { ExecutionCapabilities, Journal } from "../host/index.ts";
import { childPrefix, keyOfPlace, readChildPlace, sessionPlace } from "../host/index.ts";
import { AgentRun } from "./agent-run.ts";
import { WaitingSessions } from "./deadlines.ts";
import { killSession } from "./kill-session.ts";
import { Later } from "./later.ts";
import { placesBehind } from "./places-behind.ts";
import type { SessionAgent } from "./session-agent.ts";
import { awaitsItself } from "./session-errors.ts";
import type { SessionRecords } from "./session-records.ts";
import { SessionWorker } from "./session-worker.ts";
import { processPlace, type StoreHere, storeHere } from "./store-here.ts";

/** How many idle sessions keep their folded state in memory; older ones are read again from the journal when used. */
const idleSessions = 1_000;

/** Milliseconds by which clocks of different machines may differ, and a commit may come behind its time. */
const clocksDiffer = 600_000;

/** One search for untold reminders in so many is through all tasks there ever were. */
const searchesToWhole = 60;

/** What a table may be told beside agent and journal. */
export interface SessionTableOptions {
	/** Whether sub-agents may work in the background. Default: they may not. */
	readonly background?: ExecutionCapabilities["backgroundSubagents"] | undefined;
	/** What its keys are: callers' keys, or places of child sessions. Default `keys`. */
	readonly named?: "keys" | "places";
	/** Records kept of runs beside the journal. Default: none. */
	readonly records?: SessionRecords | undefined;
}

export class SessionTable {
	readonly agent: SessionAgent;
	readonly journal: Journal;
	readonly here: StoreHere;
	readonly later: Later;
	readonly background: ExecutionCapabilities["backgroundSubagents"];
	readonly records: SessionRecords | undefined;
	readonly #named: "keys" | "places";
	readonly #workers = new Map<string, SessionWorker>();
	readonly #idle = new Set<string>();
	readonly #listeners = new Set<(run: AgentRun) => void>();
	readonly #waiting: WaitingSessions;
	#closed = false;
	/** When the last search for untold reminders began that went through. */
	#searchedAt = 0;
	#searches = 0;

	constructor(agent: SessionAgent, journal: Journal, options: SessionTableOptions = {}) {
		this.journal = journal;
		this.here = storeHere(journal);
		this.later = new Later(agent.engine.ports.timers);
		this.#waiting = new WaitingSessions(journal, agent.engine.ports.clock);
		this.background = options.background;
		this.records = options.records;
		this.#named = options.named ?? "keys";
		this.agent = agent.inTable?.(this) ?? agent;
	}

	/** Where the session of a key stands in the store. */
	placeOf(key: string): string {
		return this.#named === "places" ? key : sessionPlace(this.agent.namespace, key);
	}

	/** The key of a place; undefined for places of other agents and of child sessions. */
	keyOf(place: string): string | undefined {
		return this.#named === "places" ? place : keyOfPlace(this.agent.namespace, place);
	}

	/** The key by which callers know the session at a place; undefined for sessions of sub-agents. */
	callersKeyOf(place: string): string | undefined {
		return this.#named === "places" ? undefined : this.keyOf(place);
	}

	/** The table that has the session at a place: this one, or that of a sub-agent; undefined for others' places. */
	tableAt(place: string): SessionTable | undefined {
		const child = readChildPlace(place);
		if (child === undefined) return this.keyOf(place) === undefined ? undefined : this;
		return this.tableAt(child.parentPlace)?.agent.children?.tableOf(child.subagent);
	}

	/** The caller's key of the session at a place, or of the session that work at this place is for; undefined for others' places. */
	rootKeyOf(place: string): string | undefined {
		const child = readChildPlace(place);
		return child === undefined ? this.keyOf(place) : this.rootKeyOf(child.parentPlace);
	}

	/** Whether runs may wait for somebody outside. Who asked for the work of a sub-agent is its parent, and nobody else can answer it. */
	get mayWait(): boolean {
		return this.#named === "keys";
	}

	/** Whether more than one session is at work. */
	get othersWork(): boolean {
		return this.#workers.size - this.#idle.size > 1;
	}

	/** A run that others have left goes on here. */
	takenUp(run: AgentRun): void {
		for (const tell of this.#listeners) tell(run);
	}

	/** Calls `tell` with each run of others that begins or goes on here. Returns the way to stop. */
	whenTakenUp(tell: (run: AgentRun) => void): () => void {
		this.#listeners.add(tell);
		return () => this.#listeners.delete(tell);
	}

	/** The one worker of a key. */
	worker(key: string): SessionWorker {
		return this.workerAt(this.placeOf(key), key);
	}

	/** The one worker of a place in the store. */
	workerAt(place: string, key: string): SessionWorker {
		const known = this.#workers.get(place);
		if (known !== undefined) {
			this.#idle.delete(place);
			return known;
		}
		const worker = new SessionWorker(this, place, key);
		if (this.#closed) void worker.close();
		else this.#workers.set(place, worker);
		return worker;
	}

	/** Goes on with a run that was left open; null when there is none, or when its parent sees to it. */
	async recover(place: string): Promise<AgentRun | null> {
		const table = this.tableAt(place);
		if (table === undefined) return null; // of another agent
		const child = readChildPlace(place);
		if (child === undefined) return table.worker(table.keyOf(place) ?? place).resume();
		const found = await this.tableAt(child.parentPlace)?.agent.children?.recover(place);
		if (found === "abandoned") await table.kill(table.worker(place));
		return found === "under-way" ? table.worker(place).resume() : null;
	}

	/**
	 * Like `recover`, for one session of many: null also when another worker was faster. A run that is parked now comes as
	 * one that was left open.
	 */
	async takeOver(place: string): Promise<AgentRun | null> {
		try {
			return await this.recover(place);
		} catch (error) {
			const { code, data } = error as { code?: unknown; data?: { runId: string; key: string } };
			if (code === "session_held") return null;
			const table = this.tableAt(place);
			if (code !== "run_parked" || data === undefined || table === undefined) throw error;
			const run = new AgentRun(data.runId, data.key);
			run.neverStarted("parked", error, await table.worker(data.key).state());
			return run;
		}
	}

	/** Sees to it that calls that wait for somebody outside fail in time, in sessions whose process may have died. */
	async watchDeadlines(
		when: "soon" | "ever",
		isOurs: (place: string) => boolean = () => true,
	): Promise<void> {
		let failure: unknown;
		for (const place of await this.#waiting.withDeadlines(when)) {
			if (!isOurs(place) || this.tableAt(place) === undefined) continue;
			try {
				await this.takeOver(place);
			} catch (error) {
				failure ??= error;
			}
			// Another worker may have had it, and die: it is looked at until somebody here sees to it.
			if (this.#workers.get(place)?.watchesDeadline !== true) this.#waiting.missed(place);
		}
		if (failure !== undefined) throw failure;
	}

	/**
	 * Tells what is to be told of work in the background that ended while nobody lived to tell it. The first search is
	 * through all there ever was, and those after it through what changed since; but for some of them, as clocks may err.
	 */
	async recoverReminders(): Promise<void> {
		if (this.background !== "durable" || this.agent.children === undefined) return;
		const began = this.agent.engine.ports.clock.now();
		const isWhole = began < this.#searchedAt || this.#searches++ % searchesToWhole === 0;
		const changedSince = isWhole ? 0 : this.#searchedAt - clocksDiffer;
		for await (const place of placesBehind(this.journal, childPrefix(), changedSince)) {
			const child = readChildPlace(place);
			await this.tableAt(child?.parentPlace ?? place)?.agent.children?.retell(place);
		}
		this.#searchedAt = began;
	}

	/** Ends the runs of a session and of its child sessions, on record before in this process. The next handle gets a new worker. */
	async kill(worker: SessionWorker): Promise<void> {
		this.#forget(worker);
		await worker.kill(() => this.#recordKill(worker.place));
	}

	/** Removes a session and its child sessions. */
	async delete(worker: SessionWorker): Promise<void> {
		const { place } = worker;
		const deletion = `deletion of ${processPlace(this.here, place)}`;
		// A plugin that is told of the deletion would be told again.
		if (isAwaitedBy(deletion)) throw awaitsItself(worker.key);
		this.#forget(worker);
		await worker.kill(async () => {
			while (!(await this.#remove(place)));
			await this.agent.setup?.over();
			await withinCall(deletion, () => this.agent.policy?.deleted(worker.key));
		});
	}

	/** Suspends all runs under way and waits until they are left. */
	async close(): Promise<void> {
		this.#closed = true;
		this.later.close();
		await Promise.all([...this.#workers.values()].map((worker) => worker.close()));
		this.#workers.clear();
		this.#idle.clear();
		await this.agent.children?.close();
	}

	/**
	 * Ends a session's runs and removes it, its child sessions first. Work is accepted for a sub-agent only while the run
	 * that asks for it is open: once they have ended there is no more of it, unless another run is begun. Then it returns
	 * false, and the session stands.
	 */
	async #remove(place: string): Promise<boolean> {
		await this.#recordKill(place);
		const seen = await this.journal.head(place);
		if (seen === undefined) return true;
		if (seen.openRunId !== undefined) return false;
		await this.#eachChild(place, (table, child) => table.delete(child));
		try {
			await this.journal.delete(place, seen);
			return true;
		} catch (error) {
			if ((error as { code?: unknown }).code !== "lease_lost") throw error;
			return false;
		}
	}

	/** Records the end of a session's runs, then of its children's. What can be ended is, though one of them fails. */
	async #recordKill(place: string): Promise<void> {
		try {
			await this.#recordCancelled(place);
			const ended = await killSession(this.journal, place, this.agent.engine.ports);
			await this.records?.cancelled(ended, this.keyOf(place) ?? place);
		} finally {
			await this.#eachChild(place, (table, child) => table.kill(child));
		}
	}

	/** The end of the run that is open is on its record before anything stops. */
	async #recordCancelled(place: string): Promise<void> {
		if (this.records === undefined) return;
		const openRunId = (await this.journal.head(place))?.openRunId;
		if (openRunId !== undefined) await this.records.cancelled([openRunId], this.keyOf(place) ?? place);
	}

	async #eachChild(
		place: string,
		work: (table: SessionTable, child: SessionWorker) => Promise<void>,
	): Promise<void> {
		const failures: unknown[] = [];
		for await (const child of this.#childrenOf(place)) {
			// A sub-agent that is gone from the agent has left its sessions behind.
			const table = this.agent.children?.tableOf(readChildPlace(child)?.subagent ?? "") ?? this;
			await work(table, table.workerAt(child, child)).catch((error) => failures.push(error));
		}
		if (failures.length > 0) throw failures[0];
	}

	/** Places of the child sessions: those the journal lists, and those that are recorded beside it. */
	async *#childrenOf(place: string): AsyncGenerator<string, void, void> {
		const prefix = childPrefix(place);
		const known = new Set<string>();
		for await (const child of placesBehind(this.journal, prefix)) {
			known.add(child);
			yield child;
		}
		if (this.records === undefined) return;
		for await (const { runId, fact } of entriesAfter(this.journal, place, 0)) {
			if (fact.kind !== "run.started") continue;
			for (const child of await this.records.children.placesOf(runId)) {
				if (known.has(child) || !child.startsWith(prefix)) continue;
				known.add(child);
				yield child;
			}
		}
	}

	#forget(worker: SessionWorker): void {
		if (this.#workers.get(worker.place) === worker) this.#workers.delete(worker.place);
		this.#idle.delete(worker.place);
	}

	/** Nothing is under way in a session any more, and nothing waits. */
	rested({ place }: SessionWorker): void {
		if (!this.#workers.has(place)) return;
		this.#idle.delete(place);
		this.#idle.add(place);
		if (this.#idle.size <= idleSessions) return;
		for (const oldest of this.#idle) {
			this.#idle.delete(oldest);
			if (this.#workers.get(oldest)?.retire() === true) this.#workers.delete(oldest);
			break;
		}
	}
}
