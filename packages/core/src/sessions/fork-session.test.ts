// Forks of sessions: their initial content, their independence, and that no effect happens under another session's key.

import { MemorySessionStore, storeJournal } from "@holdfast/stores";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { createInMemoryExecutionHost } from "../execution-host/in-memory.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import type { AnyTool } from "../tools/types.ts";
import { drain } from "./drain.ts";
import { foldHistory } from "./fold-history.ts";
import { echo, gate, play } from "./sessions.fixture.ts";

const texts = async (session: { state(): Promise<{ messages: readonly object[] }> }): Promise<string[]> =>
	(await session.state()).messages.map((message) => (message as { text: string }).text);

test("a fork starts with its parent's current state, and each continues independently", async () => {
	const { agent, session } = play(echo);
	await drain(await session.send("one"));
	const fork = await session.fork("f");
	expect(fork.key).toBe("f");
	await drain(await session.send("two"));
	await drain(await fork.send("three"));
	expect(await texts(session)).toEqual(["one", "re: one", "two", "re: two"]);
	expect(await texts(fork)).toEqual(["one", "re: one", "three", "re: three"]);
	const second = await fork.fork("g");
	await session.delete();
	await fork.delete();
	await drain(await second.send("four"));
	expect(await texts(agent.session("g"))).toEqual([
		"one",
		"re: one",
		"three",
		"re: three",
		"four",
		"re: four",
	]);
	expect(await texts(agent.session("s"))).toEqual([]);
});

test("it is forked at the last run that ended, at a named run, or at an entry", async () => {
	const answer = gate();
	const { session } = play(({ messages }) => {
		const { text } = messages.at(-1) as unknown as { text: string };
		return text === "open" ? { gate: answer.promise, text: "late" } : `re: ${text}`;
	});
	await expect(session.fork("early")).rejects.toMatchObject({
		code: "fork_unsettled",
		message: expect.stringContaining("no run of it has ended yet"),
	});
	const first = await session.send("one");
	await drain(first);
	await drain(await session.send("two"));
	const open = await session.send("open");
	void open.result();
	const whole = ["one", "re: one", "two", "re: two"];
	expect(await texts(await session.fork("last"))).toEqual(whole);
	expect(await texts(await session.fork("named", { at: first.runId }))).toEqual(whole.slice(0, 2));
	expect(await texts(await session.fork("entry", { at: 8 }))).toEqual(whole);
	await expect(session.fork("f", { at: open.runId })).rejects.toMatchObject({ code: "fork_unsettled" });
	await expect(session.fork("f", { at: 9 })).rejects.toMatchObject({ code: "fork_unsettled" });
	await expect(session.fork("f", { at: "unknown" })).rejects.toMatchObject({ code: "run_not_found" });
	answer.open();
	expect((await open.result()).text).toBe("late");
	expect(await texts(await session.fork("f", { at: open.runId }))).toHaveLength(6);
});

test("invalid sources and targets of a fork are rejected and leave nothing behind", async () => {
	const { agent, session, journal } = play(echo);
	await expect(session.fork("f")).rejects.toMatchObject({ code: "fork_unsettled" });
	await drain(await session.send("one"));
	await drain(await agent.session("taken").send("two"));
	await expect(session.fork("taken")).rejects.toMatchObject({ code: "session_exists" });
	await expect(session.fork("s")).rejects.toMatchObject({ code: "session_exists" });
	await expect(session.fork("")).rejects.toThrow(TypeError);
	expect(await texts(agent.session("taken"))).toEqual(["two", "re: two"]);
	expect(journal.head("f")).toBeUndefined();
});

test("a session's idempotency keys are never used by its forks, or by their forks", async () => {
	const keys: string[] = [];
	const pay: AnyTool = {
		name: "pay",
		description: "pays",
		parameters: { type: "object", properties: {} },
		retryPolicy: "idempotent",
		run: (_params: unknown, context: { idempotencyKey: string }) => void keys.push(context.idempotencyKey),
	};
	const { session } = play(
		({ messages }) =>
			messages.at(-1)?.type === "user" ? { toolCalls: [{ name: "pay" }, { name: "pay" }] } : "Paid.",
		{ tools: [pay] },
	);
	await drain(await session.send("one"));
	const fork = await session.fork("f");
	const again = await fork.fork("g");
	for (const each of [session, fork, again, await session.fork("h")])
		await drain(await each.send("the same"));
	expect(keys).toHaveLength(10);
	expect(new Set(keys).size).toBe(10);
});

describe("a fork", () => {
	test("stays in the namespace of its agent", async () => {
		const journal = memoryJournal();
		const { session } = play(echo, { namespace: "sales" }, journal);
		await drain(await session.send("one"));
		await session.fork("f");
		expect(await texts(play(echo, { namespace: "sales" }, journal).agent.session("f"))).toHaveLength(2);
		expect(await texts(play(echo, { namespace: "support" }, journal).agent.session("f"))).toHaveLength(0);
	});

	test("stays the same when its parent's past is compacted, and can be made from a compacted past", async () => {
		const journal = memoryJournal();
		const { session } = play(echo, {}, journal);
		await drain(await session.send("one"));
		await drain(await session.send("two"));
		const before = await session.fork("before");
		await foldHistory(journal, "s", { before: Number.POSITIVE_INFINITY });
		const after = await session.fork("after");
		await expect(session.fork("f", { at: 4 })).rejects.toMatchObject({ code: "fork_unsettled" });
		for (const fork of [before, after]) {
			await drain(await fork.send("three"));
			expect(await texts(fork)).toEqual(["one", "re: one", "two", "re: two", "three", "re: three"]);
		}
	});
});

test("sessions of hosts that keep runs can be forked, too", async () => {
	const agent = new Agent({ model: scriptedModel(echo), host: createInMemoryExecutionHost() });
	await drain(await agent.session("s").send("one"));
	const fork = await agent.session("s").fork("f");
	await drain(await fork.send("two"));
	expect(await texts(fork)).toEqual(["one", "re: one", "two", "re: two"]);
});

test("a store that fails during a fork leaves it complete or absent, and the fork can be retried", async () => {
	const begin = async (): Promise<{ store: MemorySessionStore; agent: Agent }> => {
		const store = new MemorySessionStore();
		const agent = new Agent({ model: scriptedModel(echo), host: journalHost(storeJournal(store)) });
		for (const said of ["one", "two", "three"]) await drain(await agent.session("s").send(said));
		return { store, agent };
	};
	let failed = 0;
	for (let fails = 1; ; fails++) {
		const { store, agent } = await begin();
		let commits = 0;
		const commit = store.commit.bind(store);
		store.commit = async (...given) => {
			if (++commits >= fails) throw new Error("the store is gone");
			return commit(...given);
		};
		const forked = await agent
			.session("s")
			.fork("f")
			.then(
				() => true,
				() => false,
			);
		store.commit = commit;
		const other = new Agent({ model: scriptedModel(echo), host: journalHost(storeJournal(store)) });
		expect(await texts(other.session("f"))).toHaveLength(forked ? 6 : 0);
		if (forked) break;
		failed++;
		await other.session("s").fork("f");
		expect(await texts(other.session("f"))).toHaveLength(6);
	}
	expect(failed).toBeGreaterThan(3);
});
