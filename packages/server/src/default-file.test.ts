// Without a word about where, a server keeps its sessions in a file: they are there when it is started again.
import { fork } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { Agent, memoryHost } from "holdfast";
import { expect, test } from "vitest";
import { listen } from "./server.ts";

/** A server in a process of its own in that folder: begins a session, or says which it has. */
function inFolder(cwd: string, what: "begin" | "list"): Promise<unknown> {
	const child = fork(join(import.meta.dirname, "default-file.fixture.ts"), [what], {
		cwd,
		execArgv: ["--conditions=holdfast-source", "--disable-warning=ExperimentalWarning"],
	});
	return new Promise((resolve, reject) => {
		child.once("message", resolve);
		child.once("exit", (code) => reject(new Error(`The server ended with ${code}.`)));
	});
}

test("sessions are in .holdfast/holdfast.db by default, across a kill [API-055]", async () => {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-default-"));
	try {
		expect(await inFolder(folder, "begin")).toEqual(["s"]);
		expect(existsSync(join(folder, ".holdfast", "holdfast.db"))).toBe(true);
		expect(await inFolder(folder, "list")).toEqual(["s"]);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});

test("sessions are on the agent's host if it has one, and no file is created", async () => {
	const host = memoryHost();
	const agent = new Agent({ model: scriptedModel(["hello"]), host });
	await expect(listen({ agent, port: 0, db: "other.db" })).rejects.toMatchObject({
		code: "conflicting_options",
	});
	const server = await listen({ agent, port: 0 });
	try {
		const body = JSON.stringify({ sessionId: "s", input: "hi", context: {} });
		const headers = { "content-type": "application/json" };
		const response = await fetch(`${server.url}/api/agent/execute`, {
			method: "POST",
			headers,
			body,
		});
		await response.text();
		expect((await host.journal.list()).map(({ key }) => key)).toHaveLength(1);
	} finally {
		await server.close();
	}
	// The host is the caller's: it stays open.
	expect(await host.journal.list()).toHaveLength(1);
});
