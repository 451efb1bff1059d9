import { readFileSync } from "node:fs";
import { journalContract, scriptedModel } from "@holdfast/testing";
import { append, begin, ended, input, note, notes, take } from "@holdfast/testing/cases";
import { Agent, type AgentOptions } from "holdfast";
import type { Journal, Lease, SessionStore } from "holdfast/host";
import { expect, test, vi } from "vitest";
import { MemorySessionStore } from "../session-store/memory-session-store.ts";
import { storeJournal } from "./store-journal.ts";

/** Resolves when all that can happen without anything from outside has happened. */
async function settled(): Promise<void> {
	for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A bare store has no leases: it cannot show that a holder is alive, so no worker is refused. */
const cannotHold = "is refused while its holder lives";

const cases = journalContract({ name: "session store", make, can: [] });
for (const { name, run } of cases.filter((each) => !each.name.includes(cannotHold))) test(name, run);

test("exactly one case of the contract is omitted", () => {
	expect(cases.filter(({ name }) => name.includes(cannotHold))).toHaveLength(1);
});

test("data that the first release stored is read unchanged", async () => {
	const golden = new URL("./golden-session-1.fixture.json", import.meta.url);
	const documents = JSON.parse(readFileSync(golden, "utf8")) as Record<string, unknown>;
	const store = new MemorySessionStore();
	for (const [key, state] of Object.entries(documents)) {
		await store.commit(key, { state }, { expectedVersion: null });
	}
	const journal = storeJournal(store);
	const head = { seq: 5, openRunId: "run-2", waiting: 1, createdAt: 1_000, updatedAt: 1_000 };
	expect(await journal.head("room#7")).toMatchObject(head);
	const entries = await journal.read("room#7");
	expect(entries.map(({ fact }) => fact.kind)).toEqual([
		"run.started",
		"note",
		"run.ended",
		"run.started",
		"note",
	]);
	expect(notes(entries)).toEqual(["first", { deep: [1, null, "ä"] }]);
	const lease = await take(journal, "room#7");
	expect(await lease.inbox()).toMatchObject([{ id: "waits", kind: "steer", order: 2, dedupeKey: "again" }]);
	expect(await journal.submit("room#7", input("i", { dedupeKey: "taken" }))).toEqual({
		duplicate: true,
		order: 1,
	});
	expect(await append(lease, "run-2", ended)).toBe(6);
});

test("a session of another runtime is rejected with an explanation, and is unchanged", async () => {
	const store = new MemorySessionStore();
	const state = { history: [{ role: "user", content: "Hello." }], schemaVersion: 1 };
	await store.commit("old", { state }, { expectedVersion: null });
	const agent = new Agent({ model: scriptedModel(["Hi."]), host: { sessionStore: store } });
	await expect(agent.session("old").send("Go on.")).rejects.toMatchObject({
		code: "session_foreign",
		message: expect.stringContaining("another runtime"),
	});
	await agent.close();
	expect((await store.load("old"))?.state).toEqual(state);
});

test("a store that repeats its own calls, and reports them as late, loses and duplicates nothing", async () => {
	const inner = new MemorySessionStore();
	const store: SessionStore = {
		load: (key) => inner.load(key),
		async commit(...parameters) {
			await inner.commit(...parameters);
			return { ok: false, reason: "conflict" };
		},
		delete: (key) => inner.delete(key),
	};
	const journal = storeJournal(store);
	const lease = await begin(journal, "s");
	expect(await journal.submit("s", input("i", { dedupeKey: "d" }))).toEqual({ duplicate: false, order: 1 });
	await append(lease, "run-1", note(1), note(2));
	await lease.append({ at: 1, runId: "run-1", facts: [note(3)], drain: ["i"] });
	await lease.append({ at: 1, runId: "run-1", facts: [ended], onlyIfNothingWaits: true });
	expect(notes(await journal.read("s"))).toEqual([1, 2, 3]);
	expect((await journal.head("s"))?.waiting).toBe(0);
});

test("a session that is deleted while it is read has no entries, and is not reported as damaged", async () => {
	const inner = new MemorySessionStore();
	const other = storeJournal(inner);
	await begin(other, "s");
	const store: SessionStore = {
		async load(key) {
			if (key !== "s") await other.delete("s");
			return inner.load(key);
		},
		commit: (...parameters) => inner.commit(...parameters),
		delete: (key) => inner.delete(key),
	};
	expect(await storeJournal(store).read("s")).toEqual([]);
});

test("entries are read from any position of a long session with many leases", async () => {
	const store = new MemorySessionStore();
	const expected: number[] = [];
	for (let worker = 0; worker < 10; worker++) {
		const journal = storeJournal(store);
		const lease = await take(journal, "s");
		for (let count = 0; count <= worker * 4; count++) {
			const facts = Array.from({ length: 1 + (count % 3) }, () => note(expected.push(expected.length) - 1));
			await lease.append({ at: 1, runId: "r", facts });
		}
	}
	const journal = storeJournal(store);
	for (let after = 0; after <= expected.length; after += 7) {
		for (const limit of [1, 5, 40, undefined]) {
			const entries = await journal.read("s", { after, ...(limit === undefined ? {} : { limit }) });
			const until = limit === undefined ? undefined : after + limit;
			expect(notes(entries)).toEqual(expected.slice(after, until));
		}
	}
});

function make() {
	const store = new MemorySessionStore();
	return { worker: () => sayingLeaseLost(storeJournal(store)), end() {} };
}

/**
 * Converts `session_conflict`, which this journal reports when another worker has changed the session, to the
 * `lease_lost` of other journals.
 */
function sayingLeaseLost(journal: Journal): Journal {
	return {
		...journal,
		async acquire(key, options) {
			const result = await journal.acquire(key, options);
			if (!result.ok) return result;
			const { lease } = result;
			const append: Lease["append"] = async (batch) => {
				try {
					return await lease.append(batch);
				} catch (error) {
					if ((error as { code?: string }).code !== "session_conflict") throw error;
					throw Object.assign(new Error("moved"), { code: "lease_lost" });
				}
			};
			const said = new Proxy(lease, {
				get(target, name) {
					if (name === "append") return append;
					const value = Reflect.get(target, name, target);
					return typeof value === "function" ? value.bind(target) : value;
				},
			});
			return { ok: true, lease: said };
		},
	};
}

test("a model's partial output costs no call of a store that cannot keep it", async () => {
	const commitsWith = async (options: AgentOptions): Promise<number> => {
		const sessionStore = new MemorySessionStore();
		const commit = vi.spyOn(sessionStore, "commit");
		const after = (_: number, wake: () => void): (() => void) => {
			queueMicrotask(wake);
			return () => {};
		};
		const agent = new Agent({
			model: scriptedModel([{ text: "one two three four", beforeDelta: () => settled() }]),
			host: { sessionStore },
			ports: { timers: { after } },
			...options,
		});
		expect((await (await agent.session("s").send("go")).result()).text).toBe("one two three four");
		await agent.close();
		return commit.mock.calls.length;
	};
	expect(await commitsWith({ keepDeltasMs: 1 })).toBe(await commitsWith({}));
});

test("a session that this process deleted is lost to its earlier readers; by other processes it was changed", async () => {
	const store = new MemorySessionStore();
	const same: SessionStore = {
		load: (key) => store.load(key),
		commit: (...parameters) => store.commit(...parameters),
		delete: (key) => store.delete(key),
	};
	for (const [deleter, code] of [
		[store, "lease_lost"],
		[same, "session_conflict"],
	] as const) {
		const journal = storeJournal(store);
		await append(await begin(journal, "s"), "run-1", ended);
		const looked = await take(journal, "s");
		await storeJournal(deleter).delete("s");
		await expect(append(looked, "run-2", note("late"))).rejects.toMatchObject({ code });
	}
});
