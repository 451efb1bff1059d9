// Bun and Deno run core, SQLite and server as Node does. Their programs are 195 MB, so they are no dependency: the tests run
// where HOLDFAST_BUN and HOLDFAST_DENO name them, as in the run of a clean checkout. With Node they run everywhere.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createClient } from "@holdfast/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const condition = "--conditions=holdfast-source";
const { HOLDFAST_BUN: bun = "", HOLDFAST_DENO: deno = "" } = process.env;
const runtimes = [
	{ name: "Node", command: [process.execPath, condition, "--no-warnings"], hasFetchServer: false },
	{ name: "Bun", command: [bun, condition], hasFetchServer: true },
	{
		name: "Deno",
		command: [deno, "run", "--allow-all", "--no-check", "--quiet", condition],
		hasFetchServer: true,
	},
] as const;

interface Said {
	readonly text?: string;
	readonly held?: boolean;
	readonly url?: string;
	readonly closed?: boolean;
}

/** A program under way. */
interface Program {
	/** The next line; rejects with all it wrote if it ends without one. */
	next(): Promise<Said>;
	end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
}

let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "runtimes-"));
});
afterEach(async () => {
	for (const child of children.splice(0)) {
		if (child.exitCode !== null || child.signalCode !== null) continue;
		child.kill("SIGKILL");
		await once(child, "exit");
	}
	rmSync(folder, { recursive: true, force: true });
});

function start([program = "", ...options]: readonly string[], task: string): Program {
	const fixture = join(import.meta.dirname, "runtimes-program.fixture.ts");
	const child = spawn(program, [...options, fixture, task, folder], { stdio: ["ignore", "pipe", "pipe"] });
	children.push(child);
	const exited = once(child, "exit");
	let written = "";
	child.stderr.on("data", (text) => {
		written += text;
	});
	const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
	return {
		async next() {
			const { done, value } = await lines.next();
			if (done) {
				await exited;
				throw new Error(`The program said nothing more. It wrote: ${written}`);
			}
			return JSON.parse(value);
		},
		async end(signal) {
			child.kill(signal);
			await exited;
		},
	};
}

describe.each(runtimes)("$name", ({ command, hasFetchServer }) => {
	const isThere = existsSync(command[0]);

	test.skipIf(!isThere)("calls an agent", async () => {
		expect(await start(command, "call").next()).toEqual({ text: "It is 3." });
	});

	test.skipIf(!isThere)("stores sessions in a file, which Node reads as its own", async () => {
		expect(await start(command, "send").next()).toEqual({ text: "It is 3." });
		const { sqliteHost } = await import("holdfast/sqlite");
		const host = sqliteHost(join(folder, "sessions.db"));
		const entries = await host.journal.read("s");
		expect(entries.at(-1)?.fact).toMatchObject({ kind: "run.ended", outcome: "completed" });
		await host.close();
	});

	test.skipIf(!isThere)("finishes a run whose process was killed in its tool", async () => {
		const killed = start(command, "hold");
		expect(await killed.next()).toEqual({ held: true });
		await killed.end("SIGKILL");
		expect(await start(command, "recover").next()).toEqual({ text: "It is 3." });
	});

	test.skipIf(!isThere)("stores sessions through a connection of its own SQLite", async () => {
		expect(await start(command, "connection").next()).toEqual({ text: "It is 3." });
		expect(await start(command, "connection").next()).toEqual({ text: "It is 3." });
	});

	test.skipIf(!isThere)("serves sessions with Node's HTTP, streams them, and ends in order", async () => {
		const server = start(command, "listen");
		await converse((await server.next()).url ?? "");
		await server.end("SIGTERM");
		expect(await server.next()).toEqual({ closed: true });
	});

	test.skipIf(!isThere || !hasFetchServer)("serves sessions with its own HTTP", async () => {
		const server = start(command, "fetch");
		await converse((await server.next()).url ?? "");
		await server.end("SIGTERM");
	});
});

/** A session that is begun, followed to its end, and followed again from its middle. */
async function converse(url: string): Promise<void> {
	const client = createClient({ url });
	const { sessionId, messages } = await client.execute({ input: "1 + 2?" }).result();
	expect(JSON.stringify(messages.at(-1))).toContain("It is 3.");
	const all = await idsOf(url, sessionId);
	const middle = Math.floor(all.length / 2);
	expect(await idsOf(url, sessionId, all[middle])).toEqual(all.slice(middle + 1));
}

async function idsOf(url: string, sessionId: string, after?: string): Promise<readonly string[]> {
	const answer = await fetch(`${url}/api/agent/session/${sessionId}/events`, {
		headers: after === undefined ? {} : { "last-event-id": after },
	});
	expect(answer.status).toBe(200);
	return [...(await answer.text()).matchAll(/^id: (.+)$/gm)].map(([, id]) => id as string);
}
