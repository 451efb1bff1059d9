import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { storedInput } from "../facts/input.ts";
import { foldHistory } from "../sessions/fold-history.ts";
import { noticeIdentity } from "../sessions/session-records.ts";
import { sqliteHost } from "../sqlite.ts";

/** A session with a notice in its inbox that is also scheduled, as at the end of background work. */
async function withNotice() {
	const host = sqliteHost(join(temporaryFolder(), "sessions.db"));
	const { store } = host.execution as NonNullable<typeof host.execution>;
	const agent = new Agent({ model: scriptedModel(() => "said"), host });
	const ids = { notificationId: "k", idempotencyKey: "k", runId: noticeIdentity("k").id };
	const { id, dedupeKey } = noticeIdentity("k");
	await (await agent.session("s").send("first")).result();
	await store.notifications.enqueue({ ...ids, sessionKey: "s", input: "It is done." });
	const body = storedInput({ shape: "text", message: new UserMessage("It is done.", { id }) });
	await host.journal.submit("s", { id, kind: "notice", dedupeKey, body });
	const states = async () => ({
		notification: (await store.notifications.getByIdempotencyKey("k"))?.status,
		run: (await store.runs.get(ids.runId))?.status,
	});
	const close = async (): Promise<void> => {
		await agent.close();
		await host.close();
	};
	return { host, agent, session: agent.session("s"), runId: ids.runId, states, close };
}

test("a notification that was delivered in entries compacted since counts as delivered", async () => {
	const { host, agent, session, runId, states, close } = await withNotice();
	await (await session.send("second")).result();
	expect(JSON.stringify((await session.state()).messages)).toContain("It is done.");
	await foldHistory(host.journal, "s", { before: Number.POSITIVE_INFINITY });
	expect(await agent.resume(runId)).toBeNull();
	expect(await states()).toEqual({ notification: "acked", run: "completed" });
	await close();
});

test("a notification that another worker's run delivers during the search counts as delivered", async () => {
	const path = join(temporaryFolder(), "sessions.db");
	const [host, other] = [sqliteHost(path), sqliteHost(path)];
	const { store } = host.execution as NonNullable<typeof host.execution>;
	const gate = Promise.withResolvers<void>();
	const agent = new Agent({ model: scriptedModel(() => "said"), host });
	const working = new Agent({
		model: scriptedModel([{ text: "first", gate: gate.promise }, "noted"]),
		host: other,
	});
	const run = await working.session("s").send("first");
	const over = run.result();
	const { id, dedupeKey } = noticeIdentity("k");
	await store.notifications.enqueue({
		...{ notificationId: "k", idempotencyKey: "k", runId: id },
		sessionKey: "s",
		input: "It is done.",
	});
	const body = storedInput({ shape: "text", message: new UserMessage("It is done.", { id }) });
	await host.journal.submit("s", { id, kind: "notice", dedupeKey, body });
	// The other worker takes it between the first check and the second, whichever comes first.
	let looks = 0;
	const { inbox, read } = host.journal;
	const between = async (): Promise<void> => {
		if (looks++ > 0) return;
		gate.resolve();
		await over;
	};
	Object.assign(host.journal, {
		async inbox(key: string) {
			const found = await inbox.call(host.journal, key);
			await between();
			return found;
		},
		async read(...given: Parameters<typeof read>) {
			const found = await read.apply(host.journal, given);
			await between();
			return found;
		},
	});
	expect(await agent.resume(id)).toBeNull();
	expect(looks).toBeGreaterThan(1);
	expect((await store.runs.get(id))?.status).toBe("completed");
	expect((await store.notifications.getByIdempotencyKey("k"))?.status).toBe("acked");
	await agent.close();
	await working.close();
	await host.close();
	await other.close();
});

test("a notification that a kill removed from the inbox is not delivered", async () => {
	const { agent, session, runId, states, close } = await withNotice();
	await session.kill();
	expect(await agent.resume(runId)).toBeNull();
	expect(await states()).toEqual({ notification: "acked", run: "cancelled" });
	await close();
});

/** Execution over one file, an agent on it, and a notification of session `s`. */
async function noticed(about: { readonly incarnation?: string } = {}) {
	const host = sqliteHost(join(temporaryFolder(), "sessions.db"));
	const { store, scheduler } = host.execution as NonNullable<typeof host.execution>;
	const agent = new Agent({ model: scriptedModel(() => "said"), host });
	const ids = { runId: "run-k", notificationId: "k", idempotencyKey: "k" };
	await store.notifications.enqueue({ ...ids, ...about, sessionKey: "s", input: "It is done." });
	await scheduler.resumeSession("s", ids);
	const said = async (): Promise<readonly string[]> =>
		(await host.journal.read("s")).flatMap(({ fact }) => (fact.kind === "input" ? [fact.message.text] : []));
	const states = async () => ({
		notification: (await store.notifications.getByIdempotencyKey("k"))?.status,
		run: (await store.runs.get("run-k"))?.status,
	});
	const close = async (): Promise<void> => {
		await agent.close();
		await host.close();
	};
	return { host, agent, said, states, close };
}

test("a notification whose delivery was cut off by a crash is not delivered to a session recreated under the key", async () => {
	const { host, agent, said, states, close } = await noticed();
	// Its process dies once the session has received it, and the session is deleted.
	const { submit } = host.journal;
	host.journal.submit = async (key, input) => {
		await submit.call(host.journal, key, input);
		throw new Error("The process is gone.");
	};
	await expect(agent.resume("run-k")).rejects.toThrow("gone");
	host.journal.submit = submit;
	expect((await host.journal.head("s"))?.waiting).toBe(1);
	await host.journal.delete("s");
	await (await agent.session("s").send("Hello.")).result();
	expect(await agent.resume("run-k")).toBeNull();
	expect([await said(), await states()]).toEqual([["Hello."], { notification: "acked", run: "cancelled" }]);
	await close();
});

test("a notification whose session another worker creates during the search is delivered, even if that worker dies", async () => {
	const { host, agent, said, states, close } = await noticed();
	const dying = new Agent({ model: scriptedModel(() => "never said"), host });
	const { head, submit } = host.journal;
	host.journal.head = async (key) => {
		host.journal.head = head;
		const seen = await head.call(host.journal, key);
		host.journal.submit = async () => {
			host.journal.submit = submit;
			throw new Error("The process is gone.");
		};
		await expect(dying.resume("run-k")).rejects.toThrow("gone");
		return seen;
	};
	await (await agent.resume("run-k"))?.result();
	expect([await said(), await states()]).toEqual([
		["It is done."],
		{ notification: "acked", run: "completed" },
	]);
	await dying.close();
	await close();
});

test("a notification whose session is deleted during delivery is settled, and does not recreate the session", async () => {
	const { host, agent, states, close } = await noticed();
	const { submit } = host.journal;
	host.journal.submit = async (key, input) => {
		host.journal.submit = submit;
		await host.journal.delete("s");
		return submit.call(host.journal, key, input);
	};
	expect(await agent.resume("run-k")).toBeNull();
	expect([await host.journal.head("s"), await states()]).toEqual([
		undefined,
		{ notification: "acked", run: "cancelled" },
	]);
	await close();
});

test("a notification made for one session is not delivered to another", async () => {
	const { agent, said, states, close } = await noticed({ incarnation: "of the one before" });
	await (await agent.session("s").send("Hello.")).result();
	expect(await agent.resume("run-k")).toBeNull();
	expect([await said(), await states()]).toEqual([["Hello."], { notification: "acked", run: "cancelled" }]);
	await close();
});

test("the run of a notification stays ended when its killed session is deleted", async () => {
	const { host, agent, states, close } = await noticed();
	const never = new Agent({
		model: scriptedModel(() => ({ text: "never", gate: new Promise(() => {}) })),
		host,
	});
	const run = await never.resume("run-k");
	void run?.result();
	await never.session("s").delete();
	expect((await states()).run).toBe("cancelled");
	expect(await agent.resume("run-k")).toBeNull();
	expect(await host.journal.head("s")).toBeUndefined();
	await never.close();
	await close();
});

/**
 * A session, and a notification for it that was recorded and scheduled by a process that died before it reached the
 * session.
 */
async function undeliveredNotice() {
	const host = sqliteHost(join(temporaryFolder(), "sessions.db"));
	const agent = new Agent({ model: scriptedModel(() => "said"), host });
	await (await agent.session("s").send("Hello.")).result();
	const { incarnation = "" } = (await host.journal.head("s")) ?? {};
	const ids = { runId: "run-k", notificationId: "k", idempotencyKey: "k" };
	const record = async (): Promise<void> => {
		await host.store.notifications.enqueue({ ...ids, incarnation, sessionKey: "s", input: "It is done." });
		await host.scheduler.resumeSession("s", ids);
	};
	const left = async () => ({
		notification: await host.store.notifications.getByIdempotencyKey("k"),
		scheduled: await host.scheduler.list(),
		unfinished: await host.store.runs.listUnfinished(),
		run: (await host.store.runs.get("run-k"))?.status,
	});
	const close = async (): Promise<void> => {
		await agent.close();
		await host.close();
	};
	return { agent, record, left, close };
}

const nothing = { notification: null, scheduled: [], unfinished: [], run: "cancelled" };

test("a notification made for a session is deleted with it", async () => {
	const { agent, record, left, close } = await undeliveredNotice();
	await record();
	await agent.session("s").delete();
	expect(await left()).toEqual(nothing);
	await close();
});

test("a recovery deletes only the notifications that were recorded for a session after its deletion", async () => {
	const { agent, record, left, close } = await undeliveredNotice();
	await record();
	await agent.recover();
	expect(await left()).toMatchObject({
		notification: { status: "pending" },
		scheduled: [{ runId: "run-k" }],
	});
	await agent.session("s").delete();
	await record();
	expect(await left()).toMatchObject({
		notification: { status: "pending" },
		scheduled: [{ runId: "run-k" }],
	});
	await (await agent.session("s").send("Hello again.")).result();
	await agent.recover();
	expect(await left()).toEqual(nothing);
	await close();
});

test("work that finds a notification of a deleted session deletes it", async () => {
	const { agent, record, left, close } = await undeliveredNotice();
	await agent.session("s").delete();
	await record();
	for await (const run of agent.work({ until: "done" })) expect(run).toBeUndefined();
	expect(await left()).toEqual(nothing);
	await close();
});
