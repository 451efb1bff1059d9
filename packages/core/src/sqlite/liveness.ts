// The identity of a worker on its machine, and whether it is alive. A dead process is detected immediately if it is
// visible; otherwise, a worker counts as dead once it has sent no heartbeat for the duration of a lease.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** The identity that a worker records. */
export interface Identity {
	/** The id of the process. */
	readonly pid: number;
	/** When the process started, in the kernel's ticks, because pids are reused. Empty if unknown. */
	readonly started: string;
	/** Machine, boot and pid namespace: only if these agree does a pid refer to the same process. */
	readonly machine: string;
}

/** A worker's row. */
export interface WorkerRow extends Identity {
	/** 1 once the heartbeat's thread runs. Until then, only the process itself shows that the worker is alive. */
	readonly heartbeat: number;
	/** The time of its last heartbeat, by its wall clock, in milliseconds since the epoch. */
	readonly beat_at: number;
	/**
	 * The same as the time since its machine booted, which clock changes do not affect; null if the release did not
	 * record it.
	 */
	readonly uptime?: number | null;
}

/** Returns the identity of this process. */
export function ownIdentity(): Identity {
	try {
		const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
		const started = processStat(process.pid)?.started ?? "";
		return { pid: process.pid, started, machine: `${boot} ${readlinkSync("/proc/self/ns/pid")}` };
	} catch {
		return { pid: process.pid, started: "", machine: `${process.platform} ${hostname()}` };
	}
}

/** Returns milliseconds of this machine's monotonic clock, which all its processes share. */
export function machineUptime(): number {
	return Number(process.hrtime.bigint() / 1_000_000n);
}

/**
 * Whether it has sent a heartbeat within the duration of a lease. Wall clocks can be adjusted, so they are used only
 * without an alternative: between machines, and for rows of releases without the other clock.
 */
function isBeating(row: WorkerRow, own: Identity, now: number, ttl: number, uptime: number): boolean {
	const { uptime: beat = null } = row;
	if (beat === null || bootOf(row) !== bootOf(own)) return now - row.beat_at <= ttl;
	const since = uptime - beat;
	// If negative, the row is from an earlier boot, on a machine where boots cannot be distinguished.
	return since >= -1_000 && since <= ttl;
}

/** Returns a value shared by all processes since the machine booted, in every namespace. */
function bootOf({ machine, started }: Identity): string {
	return started === "" ? machine : (machine.split(" ")[0] ?? "");
}

/**
 * Whether the worker is alive, as far as `own` can determine at `now` by the wall clock and at `uptime` by the machine's
 * clock. `ttl` is the duration of a lease in milliseconds.
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
 * itself is not visible: a worker without sessions sends none.
 */
export function isWorkerDead(row: WorkerRow, own: Identity, now: number, ttl: number): boolean {
	if (row.machine !== own.machine) return false;
	return own.started === "" ? !isPidTaken(row.pid) : !isWorkerAlive(row, own, now, ttl);
}

/** Returns state and start of a process, from Linux's /proc; undefined if there is none. */
function processStat(pid: number): { state: string; started: string } | undefined {
	let stat: string;
	try {
		stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	} catch {
		return undefined;
	}
	// The second field is the program's name in parentheses and may itself contain spaces and parentheses.
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

/** Whether `own` can determine that a process is dead; false for one on another machine. */
export function isProcessGone(other: Identity, own: Identity): boolean {
	return !isWorkerAlive({ ...other, heartbeat: 0, beat_at: 0 }, own, 0, 0);
}
