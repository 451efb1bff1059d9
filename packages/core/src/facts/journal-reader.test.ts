import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { Host } from "../host/host-port.ts";
import { memoryHost as hostInMemory } from "../host/memory-host.ts";
import { drain } from "../sessions/drain.ts";
import { foldHistory } from "../sessions/fold-history.ts";
import { afterEntry, eventId, readEventId } from "./event-id.ts";
import { foldEntries } from "./journal-fold.ts";
import { JournalReader, type JournalSource, type ReaderOptions } from "./journal-reader.ts";

/** A host whose journal is not polled endlessly: an endless loop in memory would let no timer fire, not even a test's. */
function memoryHost(): Host {
	const host = hostInMemory();
	const { head } = host.journal;
	let looks = 0;
	host.journal.head = (key) => {
		if (++looks > 10_000) throw new Error("The journal is looked at without end.");
		return head.call(host.journal, key);
	};
	return host;
}

/** A session "s" with these completed turns, each with a step that calls a tool. */
async function turns(host: Host, ...texts: readonly string[]): Promise<void> {
	const agent = new Agent({
		model: scriptedModel(({ messages }) =>
			messages.at(-1)?.type === "user"
				? { text: "one two three", toolCalls: [{ name: "look" }] }
				: `done: ${messages.length}`,
		),
		tools: [{ name: "look", description: "Looks.", parameters: { type: "object" }, run: () => "seen" }],
		keepDeltasMs: 1,
		host,
	});
	for (const text of texts) await drain(await agent.session("s").send(text));
	await agent.close();
}

/** Everything that a reader returns. */
async function allOf(host: Host, options: ReaderOptions): Promise<readonly unknown[]> {
	const reader = new JournalReader(host.journal, "s", options);
	const events: unknown[] = [];
	for (;;) {
		const page = await reader.next();
		for (const { events: given } of page?.items ?? [])
			events.push(...given.map(({ place, event }) => [eventId(place), event]));
		if (page?.isCaughtUp) return events;
	}
}

const textsOf = (reader: JournalReader): string[] =>
	reader.state.agent.messages.filter(({ type }) => type === "user").map(({ text }) => text);

/** A journal that does something after entries were read, once. */
function afterReading(journal: Host["journal"], act: () => unknown): JournalSource {
	let isDone = false;
	return {
		head: (key) => journal.head(key),
		async read(key, options) {
			const entries = await journal.read(key, options);
			if (!isDone && entries.length > 0) {
				isDone = true;
				await act();
			}
			return entries;
		},
	};
}

test("a session is the same for any page size, with and without its chunks", async () => {
	const host = memoryHost();
	await turns(host, "one", "two");
	for (const reads of ["entries", "entries and chunks"] as const) {
		const whole = await allOf(host, { reads });
		expect(new Set((whole as readonly [string][]).map(([id]) => id)).size).toBe(whole.length);
		for (const pageSize of [1, 2, 3, 7]) expect(await allOf(host, { reads, pageSize })).toEqual(whole);
	}
});

test("a journal that lacks entries it counts is damaged, and reading it ends", async () => {
	const host = memoryHost();
	await turns(host, "one");
	const { journal } = host;
	for (const lacking of [1, 3]) {
		const damaged: JournalSource = {
			head: (key) => journal.head(key),
			async read(key, options) {
				return (await journal.read(key, options)).filter(({ seq }) => seq < lacking);
			},
		};
		await expect(new JournalReader(damaged, "s").catchUp()).rejects.toMatchObject({
			code: "journal_corrupt",
		});
	}
});

test("from a previously folded state it reads only the entries added since", async () => {
	const host = memoryHost();
	await turns(host, "one");
	const before = new JournalReader(host.journal, "s");
	const state = await before.catchUp();
	await turns(host, "two", "three");
	const read: number[] = [];
	const { journal } = host;
	const watched: JournalSource = {
		head: (key) => journal.head(key),
		async read(key, options) {
			const entries = await journal.read(key, options);
			read.push(...entries.map(({ seq }) => seq));
			return entries;
		},
	};
	const { incarnation } = before;
	const reader = new JournalReader(watched, "s", { from: { state, incarnation }, pageSize: 4 });
	expect(await reader.catchUp()).toEqual(foldEntries(await journal.read("s")));
	expect(read[0]).toBe(state.seq + 1);
	const count = read.length;
	await reader.catchUp();
	expect(read).toHaveLength(count);
});

test("a repeated read that finds nothing new reads nothing", async () => {
	const host = memoryHost();
	await turns(host, "one");
	let reads = 0;
	const { journal } = host;
	const counting: JournalSource = {
		head: (key) => journal.head(key),
		read(key, options) {
			reads++;
			return journal.read(key, options);
		},
	};
	const reader = new JournalReader(counting, "s");
	await reader.next();
	expect(reads).toBe(1);
	for (let look = 0; look < 3; look++) expect(await reader.next()).toEqual({ items: [], isCaughtUp: true });
	expect(reads).toBe(1);
	await turns(host, "two");
	expect((await reader.next())?.items.length).toBeGreaterThan(0);
	expect(reads).toBe(2);
});

test("a session that was deleted and recreated is a different one, even if it is longer", async () => {
	const host = memoryHost();
	await turns(host, "one");
	const folding = new JournalReader(host.journal, "s");
	const byEvents = new JournalReader(host.journal, "s");
	await folding.catchUp();
	await byEvents.next();
	await host.journal.delete("s");
	await turns(host, "two", "three", "four");
	await folding.catchUp();
	expect(textsOf(folding)).toEqual(["two", "three", "four"]);
	expect(await byEvents.next()).toBeUndefined();
	await byEvents.next();
	expect(textsOf(byEvents)).toEqual(["two", "three", "four"]);
});

test("entries of a session that is deleted during the read are neither folded nor returned", async () => {
	for (const way of ["catchUp", "next"] as const) {
		const host = memoryHost();
		await turns(host, "one");
		const source = afterReading(host.journal, async () => {
			await host.journal.delete("s");
			await turns(host, "two");
		});
		const reader = new JournalReader(source, "s");
		expect(await reader[way]()).toEqual(way === "next" ? undefined : reader.state);
		await reader.catchUp();
		expect(textsOf(reader)).toEqual(["two"]);
	}
});

test("after a compaction, catching up starts again, and readers are notified that some events were removed", async () => {
	const host = memoryHost();
	await turns(host, "one");
	const reader = new JournalReader(host.journal, "s", { pageSize: 3 });
	const byEvents = new JournalReader(host.journal, "s", { pageSize: 3 });
	const atTheEnd = new JournalReader(host.journal, "s", { pageSize: 6 });
	for (const each of [reader, byEvents, atTheEnd]) await each.next();
	await foldHistory(host.journal, "s", { before: Date.now() + 1_000 });
	await turns(host, "two");
	await expect(byEvents.next()).rejects.toMatchObject({ code: "events_expired" });
	// The entry that replaces all others is the next one to read, but it is not the one that was there.
	await expect(atTheEnd.next()).rejects.toMatchObject({ code: "events_expired" });
	expect((await reader.catchUp()).agent.messages).toEqual(
		foldEntries(await host.journal.read("s")).agent.messages,
	);
	expect(textsOf(reader)).toEqual(["one", "two"]);
});

test("a session that does not exist yet is read once it does, and a deleted one is empty", async () => {
	const host = memoryHost();
	const reader = new JournalReader(host.journal, "s");
	expect((await reader.catchUp()).seq).toBe(0);
	expect(await reader.next()).toEqual({ items: [], isCaughtUp: true });
	await turns(host, "one");
	await reader.catchUp();
	expect(textsOf(reader)).toEqual(["one"]);
	await host.journal.delete("s");
	expect((await reader.catchUp()).seq).toBe(0);
});

test("it continues to the run that contains an event, so that later entries fold as before", async () => {
	const host = memoryHost();
	await turns(host, "one", "two", "three");
	const whole = await allOf(host, {});
	const reader = new JournalReader(host.journal, "s");
	await reader.seek({ seq: 12, sub: 0, part: 0 }, "12.0.0");
	const page = await reader.next();
	const given = page?.items.flatMap(({ events }) =>
		events.map(({ place, event }) => [eventId(place), event]),
	);
	expect(given).toEqual(whole.slice(-(given?.length ?? 0)));
	expect(page?.items[0]?.entry?.fact.kind).toBe("run.started");
	await expect(reader.seek({ seq: 99, sub: 0, part: 0 }, "99.0.0")).rejects.toMatchObject({
		code: "invalid_event_id",
	});
});

test("a reader that starts after the end of a run reads nothing of that run, and gets what a full reader gets", async () => {
	const host = memoryHost();
	await turns(host, "one", "two", "three");
	const { journal } = host;
	const whole = (await allOf(host, { reads: "entries and chunks" })) as readonly [string, unknown][];
	const ends = (await journal.read("s")).filter(({ fact }) => fact.kind === "run.ended");
	expect(ends).toHaveLength(3);
	for (const { seq } of ends) {
		let count = 0;
		const { read } = journal;
		const counting = Object.create(journal, {
			read: {
				async value(key: string, options: object) {
					const entries = await read.call(journal, key, options);
					count += entries.length;
					return entries;
				},
			},
		});
		const reader = new JournalReader(counting, "s", { reads: "entries and chunks" });
		const after = afterEntry(seq);
		await reader.seek(readEventId(after), after);
		expect(count).toBe(1);
		const { items = [] } = (await reader.next()) ?? {};
		const given = items.flatMap(({ events }) => events.map(({ place, event }) => [eventId(place), event]));
		// The boundaries before the next entry come after it.
		const from = whole.findIndex(([id]) => Number(id.split(".")[0]) >= seq && !id.startsWith(`${seq}.0.`));
		expect(given).toEqual(from < 0 ? [] : whole.slice(from));
		expect(reader.isAtRest).toBe(true);
	}
});
