// Records: independent of sessions, replaced by compare-and-swap, several at once or none.
import { same } from "../journal/index.ts";
import type { PortCase } from "./port-case.ts";

export const recordsCases: readonly PortCase[] = [
	{
		title: "a record is written if its revision is the expected one, and revisions are never reused",
		async run(world) {
			const [one, two] = [(await world.host()).records, (await world.host()).records];
			const address = { shelf: "s", name: "n" };
			same(await one.get(address), { revision: 0, value: undefined }, "a value that does not exist");
			const revisions: number[] = [];
			for (const value of ["first", "second", undefined, "third"]) {
				const { revision } = await two.get(address);
				same(await one.commit([{ ...address, revision }], [{ ...address, value }]), true, `writing ${value}`);
				const written = await two.get(address);
				same(written.value, value, "what another reads");
				if (value !== undefined) revisions.push(written.revision);
			}
			same(new Set(revisions).size, 3, "revisions");
			same(
				revisions.every((revision) => revision > 0),
				true,
				"that they are above 0",
			);
		},
	},
	{
		title: "a commit makes all of its writes or none",
		async run(world) {
			const [one, two] = [(await world.host()).records, (await world.host()).records];
			const at = (name: string): { shelf: string; name: string } => ({ shelf: "s", name });
			await one.commit([], [{ ...at("a"), value: 1 }]);
			const stale = [{ ...at("a"), revision: 0 }];
			same(await two.commit(stale, [{ ...at("b"), value: 2 }]), false, "a commit that expected otherwise");
			same((await one.get(at("b"))).value, undefined, "the write of the refused commit");
			const { revision } = await two.get(at("a"));
			const writes = [
				{ ...at("a"), value: undefined },
				{ ...at("b"), value: { deep: [1] } },
			];
			same(await two.commit([{ ...at("a"), revision }], writes), true, "one that expected right");
			same(
				[(await one.get(at("a"))).value, (await one.get(at("b"))).value],
				[undefined, { deep: [1] }],
				"all of it",
			);
		},
	},
	{
		title: "of many commits that expect the same revision, one succeeds",
		async run(world) {
			const spaces = [(await world.host()).records, (await world.host()).records];
			const address = { shelf: "s", name: "n" };
			const expected = [{ ...address, revision: 0 }];
			const outcomes = await Promise.all(
				Array.from({ length: 20 }, async (_, at) =>
					spaces[at % 2]?.commit(expected, [{ ...address, value: at }]),
				),
			);
			same(outcomes.filter((outcome) => outcome === true).length, 1, "how many did");
			same((await spaces[0]?.get(address))?.value, outcomes.indexOf(true), "whose value it is");
		},
	},
	{
		title: "a shelf is listed by name, page by page",
		async run(world) {
			const { records } = await world.host();
			const names = ["c", "a", "b", "\u0000odd", "d"];
			await records.commit(
				[],
				names.map((name) => ({ shelf: "s", name, value: name })),
			);
			await records.commit([], [{ shelf: "other", name: "x", value: 1 }]);
			const listed = async (options: { after?: string; limit?: number }): Promise<string[]> =>
				(await records.list("s", options)).map(({ name }) => name);
			same(await listed({}), [...names].sort(), "all");
			same(await listed({ after: "a", limit: 2 }), ["b", "c"], "a page");
			same(await listed({ after: "d" }), [], "after the last");
		},
	},
];
