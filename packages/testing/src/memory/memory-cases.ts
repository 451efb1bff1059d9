// Streams of entries: appended, read, cleared, limited and retained.
import { rejects, same } from "../journal/index.ts";
import { hostileNames, type WrittenCase } from "./written-case.ts";

export const memoryCases: readonly WrittenCase[] = [
	{
		title:
			"entries are read in order, from either end, in ranges, as copies; an unknown stream is empty [RUN-093]",
		async run(open) {
			const { memory } = await open();
			same(await memory.read("nothing"), [], "an unknown stream");
			const entry = { at: 0, list: ["x"] };
			for (let at = 0; at < 5; at++) await memory.append("s", { ...entry, at });
			await memory.append("t", "other");
			const at = async (options?: object): Promise<number[]> =>
				(await memory.read("s", options)).map((each) => each.at);
			same(await at(), [0, 1, 2, 3, 4], "all");
			same(await at({ limit: 2 }), [0, 1], "the first two");
			same(await at({ limit: 2, offset: 3 }), [3, 4], "the last two");
			same(await at({ offset: 4 }), [4], "without a limit");
			same(await at({ order: "desc", limit: 2 }), [4, 3], "the newest first");
			same(await at({ order: "desc", offset: 1, limit: 2 }), [3, 2], "the newest first but one");
			same(await at({ limit: 0 }), [], "none");
			same(await at({ offset: 9 }), [], "past the end");
			const [first] = await memory.read("s");
			first.list.push("changed");
			entry.list.push("changed");
			same((await memory.read("s"))[0], { at: 0, list: ["x"] }, "an entry after its copy was changed");
			for (const wrong of [{ limit: -1 }, { limit: 1.5 }, { offset: Number.NaN }, { order: "up" as "asc" }])
				await rejects("QUERY_INVALID", () => memory.read("s", wrong));
		},
	},
	{
		title: "concurrent appends of two clients are all stored, once each [RUN-093]",
		async run(open) {
			const clients = [await open(), await open()];
			const all = Array.from({ length: 200 }, (_, at) => at);
			await Promise.all(all.map((at) => clients[at % 2]?.memory.append(`s${at % 3}`, at)));
			for (const { memory } of clients) {
				const read = (await Promise.all([0, 1, 2].map((of) => memory.read(`s${of}`)))).flat();
				same(
					read.toSorted((a, b) => a - b),
					all,
					"what was appended",
				);
			}
		},
	},
	{
		title: "a second append with the same id to a stream is ignored",
		async run(open) {
			const { memory } = await open();
			await Promise.all([1, 2, 3].map(() => memory.append("s", "one", { id: "1" })));
			await memory.append("s", "two", { id: "2" });
			await memory.append("t", "one", { id: "1" });
			same(await memory.read("s"), ["one", "two"], "the stream");
			same(await memory.read("t"), ["one"], "another stream");
			same((await memory.search("one")).length, 2, "what is found");
			await memory.clear("s");
			await memory.append("s", "again", { id: "1" });
			same(await memory.read("s"), ["again"], "the stream after it was cleared");
		},
	},
	{
		title: "clear removes one stream from reads and searches, and no other [RUN-095]",
		async run(open) {
			const { memory, database } = await open();
			await memory.append("a", "blue sky");
			await memory.append("ab", "blue sea");
			await database.write("a", "k", "blue bird");
			await memory.clear("a");
			await memory.clear("nothing");
			same(await memory.read("a"), [], "the stream");
			same(
				(await memory.search("blue")).map(({ value }) => value),
				["blue sea"],
				"what is found",
			);
			same(await database.read("a", "k"), "blue bird", "the collection of the same name");
			await memory.append("a", "grey sky");
			same(await memory.read("a"), ["grey sky"], "the stream when it is used again");
		},
	},
	{
		title: "an entry above the limit is refused with both sizes; one of exactly the limit is kept [RUN-096]",
		async run(open) {
			const { memory } = await open({ maxEntryBytes: 20 });
			await memory.append("s", "é".repeat(9));
			let refusal: { code?: string; message?: string } = {};
			await memory.append("s", `${"é".repeat(9)}x`).catch((error) => {
				refusal = error;
			});
			same(refusal.code, "MEMORY_ENTRY_TOO_LARGE", "the code");
			same(
				[/\b21\b/.test(refusal.message ?? ""), /\b20\b/.test(refusal.message ?? "")],
				[true, true],
				"sizes",
			);
			same(await memory.read("s"), ["é".repeat(9)], "what is kept");
			const { memory: usual } = await open();
			await usual.append("t", "x".repeat(65_534));
			await rejects("MEMORY_ENTRY_TOO_LARGE", () => usual.append("t", "x".repeat(65_535)));
			same((await usual.read("t")).length, 1, "entries of the stream with the usual limit");
		},
	},
	{
		title: "entries that are too old or too many are not returned, and purge deletes them [RUN-132]",
		async run(open) {
			let now = 1_000;
			const { memory: all, purge: purgeNothing } = await open({ now: () => now });
			for (let at = 0; at < 6; at++) {
				await all.append("s", `blue ${at}`);
				now += 10;
			}
			await all.append("t", "blue t");
			const few = await open({ now: () => now, retention: { maxEntries: 2 } });
			same(await few.memory.read("s"), ["blue 4", "blue 5"], "the newest two");
			same(await few.memory.read("s", { order: "desc", limit: 1 }), ["blue 5"], "the newest");
			same(await few.memory.read("s", { offset: 1 }), ["blue 5"], "all but one");
			const found = (await few.memory.search("blue", { topK: 9 })).map(({ value }) => value);
			same(found.toSorted(), ["blue 4", "blue 5", "blue t"], "matches among the newest entries");
			// At the current time, 1,060, entries written since 1,030 are retained.
			const young = await open({ now: () => now, retention: { maxAgeMs: 30 } });
			same(await young.memory.read("s"), ["blue 3", "blue 4", "blue 5"], "the young ones");
			same(await young.memory.read("s", { offset: 1, limit: 1 }), ["blue 4"], "a part of them");
			same(
				(await young.memory.search("blue", { streamKey: "s" })).length,
				3,
				"matches within the maximum age",
			);
			same(
				(await young.memory.search("blue", { streamKey: "s", topK: 2 })).length,
				2,
				"no more than asked for",
			);
			same(await purgeNothing(), 0, "purged without retention");
			same((await all.read("s")).length, 6, "entries before the purge");
			same(await young.purge(), 3, "purged by age");
			same(await all.read("s"), ["blue 3", "blue 4", "blue 5"], "entries after the purge");
			same(await few.purge(), 1, "purged by number");
			same((await all.search("blue")).length, 3, "matches after the purge");
			const none = await open({ now: () => now, retention: { maxEntries: 0 } });
			same(await none.memory.read("s"), [], "read where nothing is kept");
		},
	},
	{
		title: "streams and ids with hostile names stay separate [RUN-100]",
		async run(open) {
			const { memory } = await open();
			for (const name of hostileNames) {
				await memory.append(name, { name: [...name].map((each) => each.codePointAt(0)) });
				await memory.append("ids", name, { id: name });
			}
			for (const name of hostileNames) {
				const [only, ...others] = await memory.read(name);
				same([only, others.length], [{ name: [...name].map((each) => each.codePointAt(0)) }, 0], "a stream");
			}
			same((await memory.read("ids")).length, hostileNames.length, "entries of different ids");
			await memory.clear("a");
			same((await memory.read("A")).length, 1, "a stream whose name differs in case");
			await rejects("KEY_INVALID", () => memory.append("x".repeat(2_000), 1));
			await rejects("KEY_INVALID", () => memory.append(undefined as unknown as string, 1));
		},
	},
	{
		title: "a closed client opens again with its data",
		async run(open) {
			const clients = await open();
			await clients.start();
			await clients.health();
			await clients.memory.append("s", 1);
			await clients.database.write("c", "k", 2);
			await clients.close();
			await clients.close();
			same(await clients.memory.read("s"), [1], "the stream");
			same(await clients.database.read("c", "k"), 2, "the value");
		},
	},
];
