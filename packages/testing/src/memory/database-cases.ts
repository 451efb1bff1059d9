// Values by key: written, read, queried.
import { rejects, same } from "../journal/index.ts";
import { hostileNames, type WrittenCase } from "./written-case.ts";

const values: readonly unknown[] = [
	null,
	true,
	0,
	1.5e300,
	"",
	"text with \0, \ud800, é and 💡",
	[],
	{},
	[1, [2, [3]], null],
	{ a: { b: { c: [{}] } }, "": 1, "a.b": 2, $x: 3 },
	JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}'),
];

const people: readonly {
	name: string;
	age?: number | string | null;
	at?: { city: string };
	tags?: string[];
}[] = [
	{ name: "Ann", age: 31, at: { city: "Rome" }, tags: ["x", "y"] },
	{ name: "Bob", age: 27, at: { city: "Oslo" } },
	{ name: "Cid", age: 27, at: { city: "Rome" } },
	{ name: "Dee", age: "31" },
	{ name: "Eve", age: null },
	{ name: "Fay" },
];

export const databaseCases: readonly WrittenCase[] = [
	{
		title:
			"a value is read as it was written, as a copy; a rewrite replaces it; a missing key returns null [RUN-097]",
		async run(open) {
			const { database } = await open();
			const other = (await open()).database;
			for (const [at, value] of values.entries()) await database.write("c", `k${at}`, value);
			for (const [at, value] of values.entries()) same(await other.read("c", `k${at}`), value, `value ${at}`);
			same((await other.query("c", {})).length, values.length, "values of the collection");
			same(await database.read("c", "missing"), null, "a missing key");
			same(await database.read("missing", "k1"), null, "a missing collection");
			const value = { list: [1] };
			await database.write("c", "k0", value);
			value.list.push(2);
			(await database.read("c", "k0")).list.push(3);
			same(await other.read("c", "k0"), { list: [1] }, "the value after its copies were changed");
			await Promise.all([1, 2, 3, 4].map((each) => (each % 2 ? database : other).write("c", "same", each)));
			same(
				(await database.query("c", { $same: 1 }).catch(() => [])).length,
				0,
				"a field that does not exist",
			);
			same(
				(await database.query("c", {})).length,
				values.length + 1,
				"values after one key was written at once",
			);
		},
	},
	{
		title: "queries match fields by equality and comparison, with a sort order and a range [RUN-098]",
		async run(open) {
			const { database } = await open();
			for (const each of people) await database.write("people", each.name, each);
			await database.write("others", "Ann", people[0]);
			const names = async (query: object, options?: object): Promise<string> =>
				(await database.query("people", query as Record<string, unknown>, options))
					.map(({ name }) => name)
					.join(" ");
			same(await names({}), "Ann Bob Cid Dee Eve Fay", "all");
			same(await names({ "at.city": "Rome" }), "Ann Cid", "a nested field");
			same(await names({ "at.city": "Rome", age: 27 }), "Cid", "two fields");
			same(await names({ at: { city: "Oslo" } }), "Bob", "an object");
			same(await names({ tags: ["x", "y"] }), "Ann", "an array");
			same(await names({ "tags.1": "y" }), "Ann", "an item");
			same(await names({ age: null }), "Eve", "null");
			same(await names({ age: { $ne: 27 } }), "Ann Dee Eve Fay", "$ne");
			same(await names({ age: { $gt: 27 } }), "Ann", "$gt");
			same(await names({ age: { $gte: 27 } }), "Ann Bob Cid", "$gte");
			same(await names({ age: { $lt: 31 } }), "Bob Cid", "$lt");
			same(await names({ age: { $lte: 31, $gt: 27 } }), "Ann", "$lte and $gt");
			same(await names({ name: { $gte: "D" } }), "Dee Eve Fay", "$gte of texts");
			same(await names({ age: { $in: [31, null] } }), "Ann Eve", "$in");
			same(await names({ at: { $in: [{ city: "Oslo" }] } }), "Bob", "$in of objects");
			same(await names({}, { sort: { age: "asc", name: "desc" } }), "Eve Cid Bob Ann Dee Fay", "ascending");
			same(await names({}, { sort: { name: "desc" }, offset: 1, limit: 2 }), "Eve Dee", "a part");
			same(await names({}, { limit: 0 }), "", "none");
			await database.write("people", "Ann", { name: "Ann", age: 27 });
			same(await names({ age: 27 }), "Bob Cid Ann", "a value that was rewritten");
			const invalid: readonly object[] = [
				{ age: { $regex: "2" } },
				{ age: { $gt: 1, above: 2 } },
				{ $or: [] },
				{ age: { $in: 27 } },
				{ age: { $gt: {} } },
				{ age: undefined },
			];
			for (const query of invalid)
				for (const collection of ["people", "empty"])
					await rejects("QUERY_INVALID", () => database.query(collection, query as Record<string, unknown>));
			for (const options of [{ limit: -1 }, { offset: 0.5 }, { sort: { age: "up" as "asc" } }])
				await rejects("QUERY_INVALID", () => database.query("people", {}, options));
		},
	},
	{
		title: "a collection with more values than one read returns is queried completely [RUN-098]",
		async run(open) {
			const { database } = await open();
			const all = Array.from({ length: 1_001 }, (_, at) => at);
			await Promise.all(all.map((at) => database.write("many", `k${at}`, { at })));
			const found = await database.query("many", { at: { $gte: 0 } }, { sort: { at: "asc" } });
			same(
				found.map(({ at }) => at),
				all,
				"what is found",
			);
		},
	},
	{
		title: "a value that is not plain data is refused, and the previous value stays [RUN-099]",
		async run(open) {
			const { database, memory } = await open();
			const circle: Record<string, unknown> = {};
			circle.self = { circle };
			let deep: unknown = 1;
			for (let at = 0; at < 100_000; at++) deep = [deep];
			const refused = [circle, () => 1, 1n, undefined, Number.NaN, Symbol("x"), new Date(0), new Map(), deep];
			await database.write("c", "k", "before");
			for (const each of refused)
				for (const value of [each, { inside: [each] }]) {
					await rejects("VALUE_NOT_SERIALISABLE", () => database.write("c", "k", value));
					await rejects("VALUE_NOT_SERIALISABLE", () => memory.append("s", value));
				}
			same(await database.read("c", "k"), "before", "the value");
			same(await memory.read("s"), [], "the stream");
			const shared = { x: 1 };
			await database.write("c", "k", [shared, shared]);
			same(await database.read("c", "k"), [shared, shared], "a value with an object in two places");
		},
	},
	{
		title: "collections, keys and fields with hostile names neither collide nor change a statement [RUN-100]",
		async run(open) {
			const { database } = await open();
			const numbered = hostileNames.map((name, at) => ({ name, at }));
			for (const { name, at } of numbered) {
				await database.write(name, "key", at);
				await database.write("keys", name, at);
				await database.write("fields", `field ${at}`, Object.fromEntries([[name, at]]));
			}
			for (const { name, at } of numbered) {
				same(await database.read(name, "key"), at, "a collection");
				same(await database.query(name, {}), [at], "all of a collection");
				same(await database.read("keys", name), at, "a key");
				if (name.startsWith("$")) continue;
				const found = await database.query("fields", Object.fromEntries([[name, at]]));
				same(found.length, 1, `values with the field ${JSON.stringify(name)}`);
			}
			const ways = ["a:b", "a"].map((collection) => [collection, collection === "a" ? "b:c" : "c"] as const);
			for (const [collection, key] of ways) await database.write(collection, key, `${collection}|${key}`);
			for (const [collection, key] of ways)
				same(await database.read(collection, key), `${collection}|${key}`, "names that join to the same");
			same(await database.query("fields", { "__proto__.x": 1 }), [], "a field of a prototype");
			same(await database.query("fields", JSON.parse('{"__proto__": {}}')), [], "the prototype as a field");
			same(({} as { x?: unknown }).x, undefined, "the prototype of objects");
		},
	},
];
