// Search: results and their order.
import type { SearchMatch } from "@holdfast/memory";
import { rejects, same } from "../journal/index.ts";
import type { WrittenCase } from "./written-case.ts";

const valuesOf = (matches: readonly SearchMatch[]): unknown[] => matches.map(({ value }) => value);

function isDescending(matches: readonly SearchMatch[]): boolean {
	return matches.every(({ score }, at) => at === 0 || score <= (matches[at - 1] as SearchMatch).score);
}

/** Queries with a special meaning in full-text searches, statements or patterns. */
const hostileQueries: readonly string[] = [
	'"',
	"'",
	"blue' OR '1'='1",
	'blue" OR "sea',
	"NEAR(blue sea, 2)",
	"blue AND NOT sea",
	"words: blue",
	"blue*",
	"^blue",
	"(blue",
	"{blue}",
	"-blue",
	"blue:*",
	"blue & sea | !x <-> y",
	"\\blue\\",
	"blue\0sea",
	"blue \ud800",
	"%blue%",
	"((((((((((blue))))))))))",
];

/** Returns three-dimensional vectors: warm, cold and other. */
async function embed(texts: readonly string[]): Promise<number[][]> {
	return texts.map((text) => [
		/hot|sun|summer/.test(text) ? 1 : 0,
		/cold|snow|winter/.test(text) ? 1 : 0,
		/tax/.test(text) ? 1 : 0,
	]);
}

export const searchCases: readonly WrittenCase[] = [
	{
		title: "entries are found by their words: best first, newest first among equals, at most topK [RUN-094]",
		async run(open) {
			const { memory } = await open();
			const texts = [
				"red apple",
				"Blue, blue SKY",
				"blue sea and many other words",
				"green tea",
				"a grey day",
			];
			for (const [at, text] of texts.entries()) await memory.append(`s${at % 2}`, { text, at });
			const found = await memory.search("blue sky");
			same(
				found.map(({ value }) => (value as { at: number }).at),
				[1, 2],
				"what is found",
			);
			same([isDescending(found), found[0]?.streamKey], [true, "s1"], "scores and stream");
			same(
				found.every(({ score }) => score > 0),
				true,
				"scores above 0",
			);
			same(await memory.search("yellow"), [], "no match");
			same(await memory.search("text at"), [], "names of members");
			same((await memory.search("blue", { streamKey: "s0" })).length, 1, "in one stream");
			same(await memory.search("blue", { topK: 0 }), [], "topK 0");
			for (let at = 0; at < 12; at++) await memory.append("ties", { text: "equal words", at });
			const ties = await memory.search("equal");
			same(
				ties.map(({ value }) => (value as { at: number }).at),
				[11, 10, 9, 8, 7, 6, 5, 4, 3, 2],
				"ties",
			);
			same((await memory.search("equal", { topK: 3 })).length, 3, "topK 3");
			same((await memory.search("equal", { topK: 100 })).length, 12, "topK 100");
			await memory.append("s0", { deep: [{ text: "ÉCLAIR" }], number: 4711 });
			same((await memory.search("eclair")).length, 1, "a word without its accent, nested");
			same((await memory.search("4711")).length, 1, "a number");
			await memory.append("s0", "東京タワー");
			same((await memory.search("東京")).length, 1, "a word of a script without spaces");
			for (const topK of [-1, 1.5, Number.NaN])
				await rejects("QUERY_INVALID", () => memory.search("blue", { topK }));
		},
	},
	{
		title: "values are found by their current words, with collection and key [RUN-094]",
		async run(open) {
			const { database, memory } = await open();
			await memory.append("s", "blue entry");
			await database.write("c", "sky", { is: "blue blue" });
			await database.write("d", "sea", { is: "blue, and often grey or green" });
			await database.write("d", "sun", { is: "yellow" });
			const found = await database.search("blue");
			same(
				found.map(({ collection, key }) => [collection, key]),
				[
					["c", "sky"],
					["d", "sea"],
				],
				"what is found",
			);
			same(isDescending(found), true, "scores");
			same(valuesOf(await database.search("blue", { collection: "d" })).length, 1, "in one collection");
			await database.write("c", "sky", { is: "black" });
			same(
				(await database.search("blue")).map(({ key }) => key),
				["sea"],
				"after a rewrite",
			);
			same(
				(await database.search("black")).map(({ key }) => key),
				["sky"],
				"by the new words",
			);
			for (let at = 0; at < 12; at++) await database.write("ties", `${at}`, "equal words");
			// Earlier writes take no slot among the results.
			for (let at = 0; at < 12; at++) await database.write("ties", "0", "equal words");
			const ties = (await database.search("equal")).map(({ key }) => key);
			same(ties, ["0", "11", "10", "9", "8", "7", "6", "5", "4", "3"], "ties by when they were written");
			same(await database.search("blue", { topK: 0 }), [], "topK 0");
		},
	},
	{
		title:
			"hostile queries are treated as ordinary words, and the cost of a query is linear in its length [RUN-094]",
		async run(open) {
			const { memory, database } = await open();
			await memory.append("s", "blue sky");
			await database.write("c", "k", "blue sky");
			for (const query of hostileQueries) {
				const isWord = query.includes("blue") && query !== "blue_";
				same((await memory.search(query)).length, isWord ? 1 : 0, `entries for ${JSON.stringify(query)}`);
				same((await database.search(query)).length, isWord ? 1 : 0, `values for ${JSON.stringify(query)}`);
			}
			same((await memory.search("")).length, 0, "an empty query");
			const started = performance.now();
			for (const long of ["blue ".repeat(200_000), `${"x".repeat(1_000_000)} blue`, "(".repeat(1_000_000)])
				await memory.search(long);
			const many = Array.from({ length: 100_000 }, (_, at) => `word${at}`).join(" ");
			same((await memory.search(`blue ${many}`)).length, 1, "a query of many words");
			const took = performance.now() - started;
			if (took > 10_000) throw new Error(`Queries of a megabyte took ${took} ms`);
			await rejects("QUERY_INVALID", () => memory.search(undefined as unknown as string));
		},
	},
	{
		title: "with an embedding model, texts are found by meaning in addition to words [RUN-094]",
		async run(open) {
			const { memory, database } = await open({ embed });
			for (const text of ["hot soup", "winter coat", "tax form", "a summer tax"])
				await memory.append("s", text);
			await database.write("c", "k", "sun cream");
			same(valuesOf(await memory.search("sun")), ["hot soup", "a summer tax"], "by meaning alone");
			same(valuesOf(await memory.search("summer"))[0], "a summer tax", "by words and meaning");
			same(isDescending(await memory.search("summer tax")), true, "scores");
			same(valuesOf(await memory.search("coat")), ["winter coat"], "by words alone");
			same(valuesOf(await database.search("hot")), ["sun cream"], "values by meaning");
			same((await memory.search("sun", { topK: 1 })).length, 1, "topK 1");
			await database.write("c", "k", "snow cream");
			same(valuesOf(await database.search("hot")), [], "values by what they meant before");
			const failing = await open({ embed: () => Promise.reject(new Error("no quota")) });
			await rejects("EMBEDDING_FAILED", () => failing.memory.append("s", "sun"));
			same((await memory.read("s")).length, 4, "entries after one could not be embedded");
		},
	},
];
