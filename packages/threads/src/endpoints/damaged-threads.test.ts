// Threads with damaged records and entries, over a server.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sqliteHost } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../files/files.fixture.ts";
import { oneAgent, scripted } from "../thread/threads.fixture.ts";
import { served } from "./endpoints.fixture.ts";
import { inspectThreads } from "./index.ts";

function story(authenticate?: (request: Request) => { tenant: string; user?: string }) {
	const path = join(temporaryFolder(), "threads.db");
	const host = sqliteHost(path);
	onTestFinished(() => host.close());
	const made = served(oneAgent(scripted(["Hello.", "Hello.", "Hello."]), {}), {
		host,
		...(authenticate === undefined ? {} : { server: { authenticate } }),
	});
	const run = (sql: string): readonly unknown[] => {
		const database = new DatabaseSync(path);
		try {
			return database.prepare(sql).all();
		} finally {
			database.close();
		}
	};
	return { ...made, host, run };
}

test("a thread with a damaged record reports a code without details, and can be deleted with all its data", async () => {
	const { ask, thread, threads, run } = story();
	const [id, other] = [await thread(), await thread()];
	await ask("POST", `/api/threads/${id}/messages`, { content: "Hi" });
	await threads.quiet();
	run(`UPDATE records SET body = '{"id' WHERE name = '${id}'`);
	const { status, body } = await ask("GET", `/api/threads/${id}`);
	expect([status, body.code]).toEqual([500, "journal_corrupt"]);
	expect(body.error).not.toContain("a record");
	expect((await ask("DELETE", `/api/threads/${id}`)).body).toEqual({ id, deleted: true });
	expect((await ask("DELETE", `/api/threads/${id}`)).body.code).toBe("thread_not_found");
	expect(run(`SELECT * FROM records WHERE name LIKE '%${id}%' OR shelf LIKE '%${id}%'`)).toEqual([]);
	expect(run(`SELECT * FROM sessions WHERE key LIKE '%${id}%'`)).toEqual([]);
	expect((await ask("GET", "/api/threads")).body.threads).toMatchObject([{ id: other }]);
});

test("a damaged thread of a tenant is deleted by its tenant only, and by no single user", async () => {
	const { ask, run } = story((request) => {
		const [tenant = "", user] = (request.headers.get("authorization") ?? "").split(" ");
		return { tenant, ...(user === undefined ? {} : { user }) };
	});
	const of = (authorization: string) => ({ authorization });
	const { id } = (await ask("POST", "/api/threads", { agent_id: "helper" }, of("acme ann"))).body;
	run(`UPDATE records SET body = '{"id' WHERE name = '${id}'`);
	for (const caller of ["other", "acme ann", "acme bob"])
		expect((await ask("DELETE", `/api/threads/${id}`, undefined, of(caller))).body.code, caller).toBe(
			"thread_not_found",
		);
	expect((await ask("DELETE", `/api/threads/${id}`, undefined, of("acme"))).status).toBe(200);
	expect(run(`SELECT * FROM records WHERE name LIKE '%${id}%'`)).toEqual([]);
});

test("a thread with a damaged sub-agent can be used and deleted", async () => {
	const { ask, thread, threads, run } = story();
	const id = await thread();
	const { host } = threads;
	const { records } = host;
	if (records === undefined) throw new Error("The host has no records.");
	const name = "00000000000000001.child";
	await records.commit(
		[],
		[
			{ shelf: "threads", name: "child", value: { id: "child" } },
			{ shelf: "threads/made", name, value: "child" },
			{ shelf: `threads/children/${id}`, name, value: "child" },
		],
	);
	run(`UPDATE records SET body = '{"id' WHERE name = 'child'`);
	const inspection = inspectThreads(threads);
	expect(await inspection.children("default", id)).toMatchObject([{ unreadable: "journal_corrupt" }]);
	expect((await ask("POST", `/api/threads/${id}/messages`, { content: "Hi" })).status).toBe(202);
	await threads.quiet();
	expect((await ask("GET", `/api/threads/${id}`)).status).toBe(200);
	expect((await ask("DELETE", `/api/threads/${id}`)).status).toBe(200);
	expect(run("SELECT name FROM records")).toEqual([]);
});

test("the stream of a thread with a damaged entry is refused with a code, from any position", async () => {
	const { ask, thread, threads, run } = story();
	const id = await thread();
	await ask("POST", `/api/threads/${id}/messages`, { content: "Hi" });
	await threads.quiet();
	run("UPDATE entries SET body = '{' WHERE kind = 'assistant'");
	for (const after of ["", "?after=1.0.0"]) {
		const { status, body } = await ask("GET", `/api/threads/${id}/stream${after}`);
		expect([status, body?.code], after).toEqual([500, "journal_corrupt"]);
	}
});
