// A real Redis for tests, started once for a test file and ended with it.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "redis";
import { afterAll } from "vitest";

/** A server that runs. */
export interface RunningRedis {
	readonly url: string;
	readonly process: ChildProcess;
	command(args: string[]): Promise<unknown>;
}

/** Why tests over Redis cannot run here; undefined if they can. */
export const noRedis: string | undefined = whyNot();
let running: Promise<RunningRedis> | undefined;

function whyNot(): string | undefined {
	try {
		execFileSync("redis-server", ["--version"]);
		return undefined;
	} catch {
		return "there is no `redis-server` on this machine";
	}
}

export function startRedis(): Promise<RunningRedis> {
	running ??= start();
	return running;
}

/** Returns a port without a listener. */
export function freePort(): Promise<number> {
	return new Promise((resolve) => {
		const server = createServer().listen(0, "127.0.0.1", () => {
			const { port } = server.address() as { port: number };
			server.close(() => resolve(port));
		});
	});
}

async function start(): Promise<RunningRedis> {
	const folder = mkdtempSync(join(tmpdir(), "redis-"));
	const port = await freePort();
	const options = [
		"--port",
		String(port),
		"--bind",
		"127.0.0.1",
		"--save",
		"",
		"--appendonly",
		"no",
		"--dir",
		folder,
	];
	const server = spawn("redis-server", options, { stdio: "ignore" });
	const url = `redis://127.0.0.1:${port}`;
	const client = createClient({ url, socket: { reconnectStrategy: () => 20 } });
	client.on("error", () => {});
	await client.connect();
	cleanUp.push(async () => {
		client.destroy();
		server.kill("SIGKILL");
		rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
	});
	return { url, process: server, command: (args) => client.sendCommand(args) };
}

const cleanUp: (() => Promise<void>)[] = [];
afterAll(async () => {
	for (const each of cleanUp) await each();
});
