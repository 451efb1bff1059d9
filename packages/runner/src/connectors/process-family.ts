// A process, the members of its group, and those processes outside the group that it started and that the system's
// process table shows. A process that left the group is tracked once it was seen below its parent; one that left and
// lost its parent before that cannot be found.
import { readdirSync, readFileSync } from "node:fs";

interface Row {
	readonly pid: number;
	readonly parent: number;
	readonly group: number;
	/** Distinguishes a process from a later one with the same number. */
	readonly began: string;
}

export class ProcessFamily {
	readonly #group: number;
	/** Processes that left the group, by number, with their start times. */
	readonly #away = new Map<number, string>();

	/** `pid` leads its group. */
	constructor(pid: number) {
		this.#group = pid;
	}

	/** Scans the process table. Returns whether any member is alive; zombies do not count. */
	isAlive(): boolean {
		if (this.#away.size === 0 && !send(-this.#group, 0)) return false;
		const rows = processTable();
		if (rows === undefined) return send(-this.#group, 0);
		const children = Map.groupBy(rows, ({ parent }) => parent);
		const family = new Set<Row>();
		const add = (row: Row): void => {
			if (family.has(row)) return;
			family.add(row);
			if (row.group !== this.#group) this.#away.set(row.pid, row.began);
			for (const child of children.get(row.pid) ?? []) add(child);
		};
		for (const row of rows) if (row.group === this.#group || this.#away.get(row.pid) === row.began) add(row);
		for (const [pid, began] of this.#away)
			if (!rows.some((row) => row.pid === pid && row.began === began)) this.#away.delete(pid);
		return family.size > 0;
	}

	/** Sends a signal to all processes that `isAlive` last found. */
	signal(signal: NodeJS.Signals): void {
		send(-this.#group, signal);
		for (const pid of this.#away.keys()) send(pid, signal);
	}
}

/** Returns whether any process received the signal. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
	try {
		return process.kill(pid, signal);
	} catch {
		return false;
	}
}

/** Returns every running process; undefined if the system has no such table. */
function processTable(): readonly Row[] | undefined {
	let names: readonly string[];
	try {
		names = readdirSync("/proc");
	} catch {
		return undefined;
	}
	const rows = names.filter((name) => /^\d+$/.test(name)).flatMap(rowOf);
	return rows.length === 0 ? undefined : rows;
}

function rowOf(pid: string): readonly Row[] {
	try {
		const text = readFileSync(`/proc/${pid}/stat`, "latin1");
		// The preceding name is in brackets and may contain anything.
		const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
		const [state = "", parent, group] = fields;
		if (/[ZX]/.test(state)) return [];
		return [{ pid: Number(pid), parent: Number(parent), group: Number(group), began: fields[19] ?? "" }];
	} catch {
		return [];
	}
}
