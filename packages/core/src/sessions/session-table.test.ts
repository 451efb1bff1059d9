import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { journalHost } from "../host/host-port.ts";
import type { Journal, Lease } from "../host/journal.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import { strategy } from "../strategies/index.ts";
import { echo, play, shown } from "./sessions.fixture.ts";

test("of a thousand and one idle sessions, the oldest releases its lease, and its handle continues", async () => {
	const leases = new Map<string, Lease>();
	const inner = memoryJournal();
	const journal: Journal = {
		...inner,
		async acquire(key, options) {
			const acquired = await inner.acquire(key, options);
			if (acquired.ok) leases.set(key, acquired.lease);
			return acquired;
		},
	};
	const agent = new Agent({ model: scriptedModel(echo), host: journalHost(journal) });
	const handles = Array.from({ length: 1_001 }, (_, at) => agent.session(`s${at}`));
	for (const handle of handles) await (await handle.send("one")).result();
	const [first] = handles as [(typeof handles)[number]];
	expect([...leases].filter(([, lease]) => lease.isLost).map(([key]) => key)).toEqual(["s0"]);
	const { text, state } = await (await first.send("two")).result();
	expect(text).toBe("re: two");
	expect(state.messages).toHaveLength(4);
	await agent.close();
});

test("a session with an overlay for its next turn keeps it, regardless of how many others come between [SES-120]", async () => {
	const { agent, session, model } = play(echo);
	await (await session.send("one")).result();
	await session.overlay("beside");
	for (let at = 0; at <= 1_000; at++) await (await agent.session(`other ${at}`).send("go")).result();
	await (await session.send("two")).result();
	expect(shown(model).at(-1)).toEqual(["user: one", "assistant: re: one", "user: beside", "user: two"]);
});

/** A journal over the sessions of another, and the positions of the entries that were read from it. */
function readingOf(inner: MemoryJournal): { readonly journal: Journal; readonly read: number[] } {
	const read: number[] = [];
	const other = inner.worker("other");
	const journal: Journal = {
		...other,
		read(key, options) {
			const entries = other.read(key, options);
			read.push(...entries.map(({ seq }) => seq));
			return entries;
		},
	};
	return { journal, read };
}

test("a requested state is read from incrementally, by the next reader and by the turn after it", async () => {
	const store = memoryJournal();
	const { journal, read } = readingOf(store);
	const first = new Agent({ model: scriptedModel(echo), host: journalHost(store) });
	const session = new Agent({ model: scriptedModel(echo), host: journalHost(journal) }).session("s");
	await (await first.session("s").send("one")).result();
	expect((await session.state()).messages).toHaveLength(2);
	await (await first.session("s").send("two")).result();
	expect((await session.state()).messages).toHaveLength(4);
	expect((await (await session.send("three")).result()).state.messages).toHaveLength(6);
	expect(read).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test("a session whose state was requested is evicted for others", async () => {
	const store = memoryJournal();
	const { journal, read } = readingOf(store);
	const first = new Agent({ model: scriptedModel(echo), host: journalHost(store) });
	const agent = new Agent({ model: scriptedModel(echo), host: journalHost(journal) });
	await (await first.session("s").send("one")).result();
	const session = agent.session("s");
	await session.state();
	for (let at = 0; at < 1_000; at++) await agent.session(`other ${at}`).state();
	await session.state();
	expect(read).toEqual([1, 2, 3, 4, 1, 2, 3, 4]);
});

test("a session whose run waits is read incrementally when it continues, unless a thousand others were used since", async () => {
	const { journal, read } = readingOf(memoryJournal());
	const waits = strategy({
		name: "waits",
		decide: ({ last }) =>
			last.kind === "input" ? { kind: "wait", until: 4_000_000_000_000 } : { kind: "finish" },
	});
	const agent = new Agent({ model: scriptedModel(echo), host: journalHost(journal), execution: waits });
	const handles = Array.from({ length: 1_001 }, (_, at) => agent.session(`s${at}`));
	for (const handle of handles) expect((await (await handle.send("one")).result()).outcome).toBe("waiting");
	const readFor = async (handle: (typeof handles)[number]): Promise<readonly number[]> => {
		read.length = 0;
		await (await handle.steer("two")).result();
		return [...read];
	};
	const [first, second] = handles as [(typeof handles)[number], (typeof handles)[number]];
	expect(await readFor(second)).not.toContain(1);
	expect(await readFor(first)).toContain(1);
	await agent.close();
});
