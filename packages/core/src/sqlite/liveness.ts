// The identity of a worker on its machine, and whether it is still alive. A dead process is noticed at once if that is
// visible; otherwise, a worker counts as dead when its heartbeat has stopped for the lease's time.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** The identity that a worker records. */
export interface Identity {
	readonly pid: number;
	/** When the process started, in the kernel's ticks; a pid alone is used again. Empty where unknown. */
	readonly started: string;
	/** Machine, boot and pid namespace: only where these agree does a pid mean the same. */
	readonly machine: string;
}

/** A worker's row. */
export interface WorkerRow extends Identity {
	/** 1 once the heartbeat's thread runs; until then only its process speaks for the worker. */
	readonly heartbeat: number;
	/** When it beat last, by its wall clock, in milliseconds since the epoch. */
	readonly beat_at: number;
	/** The same by the time since its machine booted, which no clock's setting changes; null for releases without it. */
	readonly uptime?: number | null;
}

/** This process. */
export function ownIdentity(): Identity {
	try {
		const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
		const started = processStat(process.pid)?.started ?? "";
		return { pid: process.pid, started, machine: `${boot} ${readlinkSync("/proc/self/ns/pid")}` };
	} catch {
		return { pid: process.pid, started: "", machine: `${process.platform} ${hostname()}` };
	}
}

/** Milliseconds of this machine's monotonic clock, which all its processes share. */
export function machineUptime(): number {
	return Number(process.hrtime.bigint() / 1_000_000n);
}

/**
 * Whether it has sent a heartbeat within the lease's time. Wall clocks are set forward and back, and count only without
 * an alternative: between machines, and for rows of releases without the other clock.
 */
function isBeating(row: WorkerRow, own: Identity, now: number, ttl: number, uptime: number): boolean {
	const { uptime: beat = null } = row;
	if (beat === null || bootOf(row) !== bootOf(own)) return now - row.beat_at <= ttl;
	const since = uptime - beat;
	// Less than nothing: the row is of an earlier boot, where those cannot be distinguished.
	return since >= -1_000 && since <= ttl;
}

/** A value shared by all processes since the machine booted, in every namespace. */
function bootOf({ machine, started }: Identity): string {
	return started === "" ? machine : (machine.split(" ")[0] ?? "");
}

/**
 * Whether the worker is alive, as far as `own` can know at `now` by the wall clock and at `uptime` by the machine's.
 * `ttl` is the lease's time in milliseconds.
 */
export function isWorkerAlive(
	row: WorkerRow,
	own: Identity,
	now: number,
	ttl: number,
	uptime: number = machineUptime(),
): boolean {
	const beating = isBeating(row, own, now, ttl, uptime);
	if (row.machine !== own.machine) return beating;
	if (row.pid === own.pid && row.started === own.started) return true;
	if (own.started === "") return isPidTaken(row.pid) && beating;
	const process = processStat(row.pid);
	if (process === undefined || process.started !== row.started) return false;
	switch (process.state) {
		case "Z":
		case "X":
			return false;
		case "T":
		case "t":
			return beating;
		default:
			return row.heartbeat === 0 || beating;
	}
}

/**
 * Whether the worker is known to be dead. Unlike `!isWorkerAlive`, a missing heartbeat alone is not enough if the process
 * itself cannot be seen: a worker without sessions sends none.
 */
export function isWorkerDead(row: WorkerRow, own: Identity, now: number, ttl: number): boolean {
	if (row.machine !== own.machine) return false;
	return own.started === "" ? !isPidTaken(row.pid) : !isWorkerAlive(row, own, now, ttl);
}

/** State and start of a process, from Linux's /proc; undefined if absent. */
function processStat(pid: number): { state: string; started: string } | undefined {
	let stat: string;
	try {
		stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	} catch {
		return undefined;
	}
	// The second field is the program's name in parentheses and may itself hold spaces and parentheses.
	const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	return { state: fields[0] ?? "", started: fields[19] ?? "" };
}

function isPidTaken(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as { code?: string }).code !== "ESRCH";
	}
}

/** Whether a process is certainly dead, as far as `own` knows: false for one on another machine. */
export function isProcessGone(other: Identity, own: Identity): boolean {
	return !isWorkerAlive({ ...other, heartbeat: 0, beat_at: 0 }, own, 0, 0);
}
