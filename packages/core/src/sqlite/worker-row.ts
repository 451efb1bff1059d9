// This worker's row. It is written with the worker's first lease, the first input it waits for, or its first record,
// which may be a claim. Later ones refresh its heartbeat, as does the heartbeat's thread once leases are held for a
// while. Leaving removes the row.
import { type Heartbeat, startHeartbeat } from "./heartbeat.ts";
import {
	type Identity,
	isProcessGone,
	isWorkerAlive,
	isWorkerDead,
	machineUptime,
	ownIdentity,
	type WorkerRow,
} from "./liveness.ts";
import type { Statements } from "./statements.ts";
import { toStored } from "./stored-text.ts";

/** Parameters of a worker row. */
export interface WorkerOptions {
	readonly path: string;
	readonly workerId: string;
	/** How long a worker whose process is not visible counts as alive after a heartbeat, in milliseconds. */
	readonly leaseTtlMs: number;
	readonly clock: { now(): number };
	readonly statements: Statements;
	/** Whether the worker holds anything now that a heartbeat must keep. */
	holds(): boolean;
}

/** This worker among those that share the file. */
export interface WorkerRegistration {
	readonly workerId: string;
	/**
	 * Ensures that the row exists and its heartbeat is recent. Call it within a transaction. Returns the row's number.
	 */
	present(): number;
	/** Reports that the transaction of the last `present` was rolled back. */
	undo(): void;
	/** Reports that the transaction of the last `present` was committed. */
	committed(): void;
	/** Returns the worker of that row, and whether it is alive; undefined if it left. */
	find(row: number): { readonly workerId: string; readonly alive: boolean } | undefined;
	isAlive(storedName: string): boolean;
	/** Returns the rows of dead workers. */
	dead(): readonly number[];
	/** Whether the worker is known to be dead or to have left. */
	isDead(storedName: string): boolean;
	isOwn(row: number | null): boolean;
	/** Ends the heartbeat. */
	stop(): Promise<void>;
	/** Removes the row. Call it within a transaction. */
	leave(): void;
}

const day = 24 * 60 * 60 * 1000;

/** Creates the registration. Writes nothing yet. */
export function registerWorker(options: WorkerOptions): WorkerRegistration {
	const { statements, clock, leaseTtlMs } = options;
	const name = toStored(options.workerId);
	let own: Identity | undefined;
	let row: number | undefined;
	/** By the machine's clock. */
	let beatAt = 0;
	let tentative: { row: number | undefined; beatAt: number } | undefined;
	let heartbeat: Heartbeat | undefined;
	let timer: ReturnType<typeof setTimeout> | undefined;
	const self = (): Identity => {
		own ??= ownIdentity();
		return own;
	};
	/** Dead processes: a new one with the same pid has a different start time. */
	const gone = new Set<string>();
	const lives = (worker: WorkerRow): boolean => {
		const { pid, started, machine } = worker;
		const process = `${pid} ${started} ${machine}`;
		if (gone.has(process)) return false;
		if (isWorkerAlive(worker, self(), clock.now(), leaseTtlMs)) return true;
		// A stopped process may continue, and one on another machine is not visible.
		const isSeen = started !== "" && machine === self().machine;
		if (isSeen && isProcessGone(worker, self())) gone.add(process);
		return false;
	};

	function dead(): readonly number[] {
		const workers = statements.allWorkers.all() as unknown as (WorkerRow & { id: number })[];
		return workers.filter((worker) => !lives(worker)).map(({ id }) => id);
	}

	function insert(uptime: number): number {
		const { pid, started, machine } = self();
		const now = clock.now();
		tentative ??= { row, beatAt };
		beatAt = uptime;
		if (row !== undefined) {
			statements.restoreWorker.run(row, name, pid, started, machine, now, uptime);
			return row;
		}
		for (const id of dead()) statements.forgetWorker.run(id, now - day);
		succeed();
		row = Number(statements.addWorker.run(name, pid, started, machine, now, uptime).lastInsertRowid);
		return row;
	}

	/** Replaces a dead worker of the same name. Any worker may start inputs that it accepted. */
	function succeed(): void {
		const former = statements.workerByName.get(name) as unknown as WorkerRow | undefined;
		if (former === undefined) return;
		if (lives(former))
			throw new Error(
				`another worker named "${options.workerId}" is alive; give each worker its own \`workerId\``,
			);
		statements.removeWorkerNamed.run(name);
		statements.disownInputs.run(name);
	}

	function startWhenHeldLong(): void {
		if (heartbeat !== undefined || timer !== undefined) return;
		timer = setTimeout(() => {
			timer = undefined;
			if (row === undefined || heartbeat !== undefined || !options.holds()) return;
			heartbeat = startHeartbeat({ path: options.path, worker: row, every: leaseTtlMs / 3 });
		}, leaseTtlMs / 4);
		timer.unref();
	}

	return {
		workerId: options.workerId,
		present() {
			const uptime = machineUptime();
			const isFresh = heartbeat?.beating || uptime - beatAt < leaseTtlMs / 4;
			return row !== undefined && isFresh ? row : insert(uptime);
		},
		undo() {
			if (tentative === undefined) return;
			({ row, beatAt } = tentative);
			tentative = undefined;
		},
		committed() {
			tentative = undefined;
			startWhenHeldLong();
		},
		find(id) {
			// Most leases that a worker asks about are its own.
			if (id === row) return { workerId: name, alive: true };
			const worker = statements.workerById.get(id) as unknown as (WorkerRow & { name: string }) | undefined;
			return worker === undefined ? undefined : { workerId: worker.name, alive: lives(worker) };
		},
		isAlive(storedName) {
			const worker = statements.workerByName.get(storedName) as unknown as WorkerRow | undefined;
			return worker !== undefined && lives(worker);
		},
		dead,
		isDead(storedName) {
			if (storedName === name) return false;
			const worker = statements.workerByName.get(storedName) as unknown as WorkerRow | undefined;
			return worker === undefined || isWorkerDead(worker, self(), clock.now(), leaseTtlMs);
		},
		isOwn: (id) => id !== null && id === row,
		async stop() {
			clearTimeout(timer);
			await heartbeat?.stop();
		},
		leave() {
			if (row !== undefined) statements.removeWorker.run(row);
		},
	};
}
