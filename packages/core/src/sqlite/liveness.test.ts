import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { isWorkerAlive, isWorkerDead, ownIdentity, type WorkerRow } from "./liveness.ts";

const ttl = 1_000;
const own = ownIdentity();
const other: WorkerRow = { ...own, pid: process.ppid, started: "unlike", heartbeat: 0, beat_at: 0 };

test("a worker on another machine is alive as long as its heartbeat continues", () => {
	const elsewhere = { ...other, machine: "elsewhere" };
	expect(isWorkerAlive(elsewhere, own, ttl, ttl)).toBe(true);
	expect(isWorkerAlive(elsewhere, own, ttl + 1, ttl)).toBe(false);
});

test("a worker of the same boot is judged by the time since then, regardless of the wall clocks", () => {
	const since = { ...other, machine: `${own.machine.split(" ")[0]} another`, uptime: 5_000 };
	expect(isWorkerAlive(since, own, 1e12, ttl, 5_000 + ttl)).toBe(true);
	expect(isWorkerAlive(since, own, 0, ttl, 5_001 + ttl)).toBe(false);
	// From an earlier boot, on a machine that cannot distinguish boots.
	expect(isWorkerAlive(since, own, 0, ttl, 1)).toBe(false);
	expect(isWorkerAlive({ ...since, uptime: null }, own, ttl, ttl, 9e9)).toBe(true);
});

test("a worker that cannot be observed is not considered dead, however late its heartbeat", () => {
	expect(isWorkerDead({ ...other, machine: "elsewhere" }, own, 100 * ttl, ttl)).toBe(false);
	const unknown = { ...own, started: "" };
	expect(isWorkerDead({ ...other, started: "" }, unknown, 100 * ttl, ttl)).toBe(false);
	expect(isWorkerDead({ ...other, started: "", pid: 2 ** 30 }, unknown, 0, ttl)).toBe(true);
});

test("a worker of the same process is alive, however late its heartbeat", () => {
	expect(isWorkerAlive({ ...own, heartbeat: 1, beat_at: 0 }, own, 100 * ttl, ttl)).toBe(true);
});

test.runIf(process.platform === "linux")("a pid that was reused by another process is not the worker", () => {
	expect(isWorkerAlive({ ...other, beat_at: ttl }, own, ttl, ttl)).toBe(false);
});

test.runIf(process.platform === "linux")(
	"a living process is trusted before its heartbeat starts, and judged by it from then on",
	async () => {
		const script = `process.stdout.write(require("node:fs").readFileSync("/proc/self/stat", "utf8")); setInterval(() => {}, 1000)`;
		const child = spawn(process.execPath, ["-e", script]);
		const stat = String(await new Promise((resolve) => child.stdout.once("data", resolve)));
		const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] as string;
		const row: WorkerRow = {
			pid: child.pid as number,
			started,
			machine: own.machine,
			heartbeat: 0,
			beat_at: 0,
		};
		expect(isWorkerAlive(row, own, 100 * ttl, ttl)).toBe(true);
		expect(isWorkerDead(row, own, 100 * ttl, ttl)).toBe(false);
		expect(isWorkerAlive({ ...row, heartbeat: 1 }, own, 100 * ttl, ttl)).toBe(false);
		expect(isWorkerAlive({ ...row, heartbeat: 1 }, own, ttl, ttl)).toBe(true);
		const gone = new Promise((resolve) => child.once("exit", resolve));
		child.kill("SIGKILL");
		await gone;
		expect(isWorkerAlive(row, own, 0, ttl)).toBe(false);
		expect(isWorkerDead(row, own, 0, ttl)).toBe(true);
	},
);
