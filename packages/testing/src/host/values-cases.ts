// Values: small, owned by a plugin of a session, and deleted with the session.
import { append, begin, ended, rejects, same, started, take } from "../journal/index.ts";
import type { PortCase } from "./port-case.ts";

export const valuesCases: readonly PortCase[] = [
	{
		title: "a value is stored under its session, owner and name, and each get returns a copy",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			const given = { list: [1, "two", null], bytes: new Uint8Array([1, 2]) };
			await one.values.values("s", "a").set("n", given);
			await one.values.values("s", "b").set("n", "of b");
			await two.values.values("t", "a").set("n", "of t");
			const values = two.values.values("s", "a");
			const first = (await values.get("n")) as typeof given;
			same(first.list, given.list, "what was kept");
			same([...first.bytes], [1, 2], "its bytes");
			first.list.push("changed");
			same(((await values.get("n")) as typeof given).list, given.list, "after a reader changed its copy");
			same(await one.values.values("s", "b").get("n"), "of b", "of another owner");
			same(await one.values.values("t", "a").get("n"), "of t", "of another session");
			same(await one.values.values("s", "a").get("other"), undefined, "a value that does not exist");
		},
	},
	{
		title: "values are listed by name, replaced and deleted, for any names",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			const names = ["b", "a", "", "\u0000", "\\", '"', "é", "__proto__"];
			const values = one.values.values("s", "o");
			for (const name of names) await values.set(name, { name });
			await values.set("a", "replaced");
			const listed = await two.values.values("s", "o").list();
			same(
				listed.map(({ name }) => name),
				[...names].sort(),
				"names",
			);
			same(listed.find(({ name }) => name === "a")?.value, "replaced", "the last value");
			same([await values.delete("a"), await values.delete("a")], [true, false], "whether there was one");
			same(await two.values.values("s", "o").get("a"), undefined, "a deleted one");
		},
	},
	{
		title: "if values belong to their session, they are deleted with it, and a recreated session has none",
		async run(world) {
			const { journal, values } = await world.host();
			if (values.goWithSession !== true) return;
			await append(await begin(journal, "s"), "run-1", ended);
			await values.values("s", "o").set("n", 1);
			await values.values("new", "o").set("n", 2);
			same((await journal.head("new"))?.seq, 0, "a session that a value has begun");
			await journal.delete("s");
			await journal.delete("new");
			same(await values.values("s", "o").get("n"), undefined, "after the deletion");
			await append(await begin(journal, "s"), "run-1", ended);
			same(await values.values("s", "o").list(), [], "in the session that is made anew");
			same(await values.values("new", "o").list(), [], "in one that had nothing else");
			await values.values("new", "o").set("n", 3);
			same((await journal.head("new"))?.seq, 0, "the session of a value that was set after the deletion");
			await journal.delete("new");
			same(await journal.head("new"), undefined, "after its deletion");
		},
	},
	{
		title: "a value that needs its session is stored only if the session exists, and creates none",
		async run(world) {
			const { journal, values } = await world.host();
			const own = values.values("s", "o");
			if (own.setIfExists === undefined) return;
			same(await own.setIfExists("n", 1), false, "without the session");
			same(await journal.head("s"), undefined, "the session after that");
			await append(await begin(journal, "s"), "run-1", ended);
			same(await own.setIfExists("n", 2), true, "with it");
			same(await own.get("n"), 2, "the value");
			same(await own.setIfExists("n", 3), true, "a second time");
			same(await own.get("n"), 3, "the replaced value");
			await journal.delete("s");
			same(await own.setIfExists("n", 4), false, "after its deletion");
			same(await journal.head("s"), undefined, "the deleted session");
			if (values.goWithSession === true) same(await own.get("n"), undefined, "the value after its deletion");
		},
	},
	{
		title:
			"if values come with an append, they are stored once with its entries; a refused append stores none",
		async run(world) {
			const { journal, values } = await world.host();
			if (values.comeWithAppend !== true) return;
			const make = async (key: string, value: unknown): Promise<unknown> =>
				(await take(journal, key)).append({
					at: 1_000,
					runId: "run-1",
					facts: [started, ended],
					values: [{ owner: "o", name: "n", value }],
				});
			const odd = { text: "\u0000 é", bytes: new Uint8Array([1]) };
			await make("new", odd);
			const kept = (await values.values("new", "o").get("n")) as typeof odd;
			same([kept.text, ...kept.bytes], [odd.text, 1], "what came with the first append");
			same((await journal.head("new"))?.seq, 2, "the last entry next to it");
			await values.values("begun", "o").set("other", 1);
			await make("begun", "second");
			same(await values.values("begun", "o").get("n"), "second", "in a session that a value has begun");
			await values.values("made", "o").set("n", "first");
			await append(await begin(journal, "run"), "run-1", ended);
			for (const key of ["new", "made", "run"]) {
				const before = await journal.head(key);
				await rejects("session_exists", () => make(key, "again"));
				same(await journal.head(key), before, `the session ${key} after that`);
			}
			same(await values.values("made", "o").get("n"), "first", "the first that was kept");
			same(await values.values("run", "o").list(), [], "the values of one that began without");
		},
	},
];
