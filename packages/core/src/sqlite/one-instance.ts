// Workers of a database that belongs to one instance of one program, like the storage of a Durable Object: live workers
// are listed in memory, and all others are dead.
import type { CommitsOfOthers } from "./change-feed.ts";
import type { SqlConnection } from "./connection.ts";
import type { Statements } from "./statements.ts";
import { toStored } from "./stored-text.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** The workers of one instance. */
export interface Instance {
	/** Names of the live workers. */
	readonly living: Set<string>;
	/** The listeners to call when another worker has committed. */
	readonly listeners: Map<string, Set<() => void>>;
}

/** Creates an instance without workers. */
export function makeInstance(): Instance {
	return { living: new Set(), listeners: new Map() };
}

/** Wraps a connection so that its commits are reported to the other workers of its instance. */
export function announced(connection: SqlConnection, instance: Instance, worker: string): SqlConnection {
	const announce = (): void => {
		for (const [name, listeners] of instance.listeners)
			if (name !== worker) for (const changed of listeners) changed();
	};
	return {
		exec: (text) => connection.exec(text),
		prepare: (text) => connection.prepare(text),
		atomically(work) {
			const result = connection.atomically(work);
			if (instance.listeners.size > 0) queueMicrotask(announce);
			return result;
		},
	};
}

/** Subscribes to the commits of an instance's other workers. */
export function commitsInInstance({ listeners }: Instance, worker: string): CommitsOfOthers {
	return (changed) => {
		const own = listeners.get(worker) ?? new Set();
		listeners.set(worker, own.add(changed));
		return () => {
			own.delete(changed);
			if (own.size === 0) listeners.delete(worker);
		};
	};
}

/** The parameters of a registration in an instance. */
export interface InstanceWorkerOptions {
	readonly instance: Instance;
	readonly workerId: string;
	readonly clock: { now(): number };
	readonly statements: Statements;
}

/** Registers a worker in its instance; its row is written when it is first needed. */
export function registerInInstance(options: InstanceWorkerOptions): WorkerRegistration {
	const { instance, statements, clock, workerId } = options;
	const name = toStored(workerId);
	if (instance.living.has(name))
		throw new Error(`another worker named "${workerId}" is alive; give each worker its own \`workerId\``);
	instance.living.add(name);
	let row: number | undefined;
	let isTentative = false;
	const lives = (stored: string): boolean => instance.living.has(stored);
	const rows = (): { id: number; name: string }[] =>
		statements.allWorkers.all() as { id: number; name: string }[];
	const dead = (): readonly number[] =>
		rows()
			.filter((worker) => !lives(worker.name))
			.map(({ id }) => id);

	function insert(): number {
		const now = clock.now();
		for (const id of dead()) statements.forgetWorker.run(id, now);
		const former = statements.workerByName.get(name);
		if (former !== undefined) {
			// Any worker may start inputs that a dead one accepted.
			statements.removeWorkerNamed.run(name);
			statements.disownInputs.run(name);
		}
		return Number(statements.addWorker.run(name, 0, "", "", now, null).lastInsertRowid);
	}

	return {
		workerId,
		present() {
			if (row === undefined) {
				row = insert();
				isTentative = true;
			}
			return row;
		},
		undo() {
			if (isTentative) row = undefined;
			isTentative = false;
		},
		committed() {
			isTentative = false;
		},
		find(id) {
			if (id === row) return { workerId: name, alive: true };
			const worker = statements.workerById.get(id) as { name: string } | undefined;
			return worker && { workerId: worker.name, alive: lives(worker.name) };
		},
		isAlive: lives,
		dead,
		isDead: (stored) => !lives(stored),
		isOwn: (id) => id !== null && id === row,
		async stop() {},
		leave() {
			instance.living.delete(name);
			if (row !== undefined) statements.removeWorker.run(row);
		},
	};
}
