// Forks: settled entries under a new key, all or none, independent of the session they were copied from.
import type { Journal } from "holdfast/host";
import {
	append,
	begin,
	ended,
	input,
	note,
	notes,
	rejects,
	same,
	started,
	take,
	type WrittenCase,
} from "./journal-world.ts";

/** Two runs that ended at 3 and 6. */
async function twoRuns(journal: Journal): Promise<void> {
	const lease = await begin(journal, "s");
	await append(lease, "run-1", note("one"), ended);
	await append(lease, "run-2", started, note("two"));
	await append(lease, "run-2", ended);
	await lease.release();
}

export const forkCases: readonly WrittenCase[] = [
	{
		title: "a fork has the entries up to its fork point, with their runs and times, and no inputs",
		async run(world) {
			const journal = await world.worker();
			await twoRuns(journal);
			await journal.submit("s", input("i", { dedupeKey: "d" }));
			await journal.fork("s", "all", 6);
			await journal.fork("s", "first", 3);
			const source = await journal.read("s");
			same(await journal.read("all"), source, "all entries");
			same(await journal.read("first"), source.slice(0, 3), "those of the first run");
			same(await journal.read("all", { after: 4, limit: 1 }), source.slice(4, 5), "a page");
			const head = await journal.head("first");
			same(
				[head?.seq, head?.waiting, head?.openRunId, head?.holder],
				[3, 0, undefined, undefined],
				"its head",
			);
			same(
				(await journal.submit("first", input("j", { dedupeKey: "d" }))).duplicate,
				false,
				"its dedupe keys",
			);
		},
	},
	{
		title: "a session and its fork are independent, and each survives the deletion of the other",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await twoRuns(one);
			await one.fork("s", "f", 6);
			await append(await take(one, "s"), "run-3", started, note("of the parent"), ended);
			await append(await take(two, "f"), "run-4", started, note("of the fork"), ended);
			await two.fork("f", "g", 9);
			same(notes(await two.read("s")), ["one", "two", "of the parent"], "the parent");
			same(notes(await one.read("f")), ["one", "two", "of the fork"], "the fork");
			await one.delete("s");
			same(notes(await one.read("f")), ["one", "two", "of the fork"], "the fork without its parent");
			const runs = (await one.read("g")).map(({ runId }) => runId);
			same(runs, ["run-1", "run-1", "run-1", "run-2", "run-2", "run-2", "run-4", "run-4", "run-4"], "runs");
			await one.delete("f");
			same(notes(await two.read("g")), ["one", "two", "of the fork"], "the fork of the fork");
			same(await two.read("f"), [], "the deleted fork");
		},
	},
	{
		title: "a fork is refused if a run is open, if the entry does not exist, and if the key is taken",
		async run(world) {
			const journal = await world.worker();
			await twoRuns(journal);
			for (const until of [0, 1, 2, 4, 5, 7, -1, 1.5])
				await rejects("fork_unsettled", () => journal.fork("s", "f", until));
			await rejects("fork_unsettled", () => journal.fork("unknown", "f", 1));
			await append(await take(journal, "s"), "run-3", started, note("open"));
			for (const until of [7, 8]) await rejects("fork_unsettled", () => journal.fork("s", "f", until));
			same(await journal.head("f"), undefined, "what a refused fork left");
			await journal.submit("taken", input("i"));
			await rejects("session_exists", () => journal.fork("s", "taken", 6));
			await rejects("session_exists", () => journal.fork("s", "s", 6));
			same((await journal.read("taken")).length, 0, "the session that is there");
			await journal.fork("s", "f", 6);
			same((await journal.read("f")).length, 6, "the settled prefix of an open session");
		},
	},
	{
		title: "of concurrent forks to one key, one succeeds",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await twoRuns(one);
			const forks = [one, two, one, two].map(async (journal, at) =>
				journal.fork("s", "f", at % 2 === 0 ? 3 : 6),
			);
			const outcomes = await Promise.allSettled(forks);
			const refused = outcomes.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
			same(refused, ["session_exists", "session_exists", "session_exists"], "the others");
			const entries = await one.read("f");
			same([3, 6].includes(entries.length), true, "the one that was made is whole");
			same((await two.head("f"))?.seq, entries.length, "its head");
		},
	},
	{
		title: "a watcher is notified of a fork",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await twoRuns(one);
			let heard = 0;
			const stop = one.watch("f", () => heard++);
			await one.fork("s", "f", 6);
			await new Promise((resolve) => setTimeout(resolve, 0));
			same(heard > 0, true, "the notifications of the watcher");
			stop();
			same((await two.read("f")).length, 6, "the entries that another worker reads");
		},
	},
];
