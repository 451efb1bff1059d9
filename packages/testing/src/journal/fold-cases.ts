// Settled entries become one (Append.replaces): fenced and atomic like any append, and later entries do not change.
import type { Fact, Journal, Lease } from "holdfast/host";
import {
	append,
	begin,
	ended,
	input,
	note,
	rejects,
	same,
	started,
	take,
	type WrittenCase,
} from "./journal-world.ts";

function folded(text: string): Fact {
	const state = { version: "1.0.0", id: text, messages: [], step: 0, metadata: { text } };
	return { kind: "folded", state, tools: [["look"], null] };
}

/** Two runs that ended at 3 and 6. */
async function twoRuns(journal: Journal): Promise<Lease> {
	const lease = await begin(journal, "s");
	await append(lease, "run-1", note(1), ended);
	await append(lease, "run-2", started, note(2), ended);
	return lease;
}

async function fold(lease: Lease, seq: number, runId = "run-1"): Promise<void> {
	const result = await lease.append({ at: 900, runId, facts: [folded(runId)], replaces: seq });
	same(result, { ok: true, seq: 6 }, "what folding answers");
}

async function readAll(journal: Journal, after = 0): Promise<readonly unknown[]> {
	const entries = await journal.read("s", { after });
	return entries.map(({ seq, at, runId, fact }) => [seq, at, runId, fact.kind]);
}

const later = [
	[4, 1_000, "run-2", "run.started"],
	[5, 1_000, "run-2", "note"],
	[6, 1_000, "run-2", "run.ended"],
];

export const foldCases: readonly WrittenCase[] = [
	{
		title: "settled entries are folded into one at the position of the last, and later entries do not change",
		needs: "fold",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await twoRuns(one);
			await two.submit("s", input("waits", { dedupeKey: "d" }));
			const before = await two.head("s");
			const lease = await take(two, "s");
			await fold(lease, 3);
			for (const journal of [one, two]) {
				const all = await readAll(journal);
				same([(all[0] as unknown[])[0], ...all.slice(1)], [3, ...later], "what is left");
				const [first] = await journal.read("s", { limit: 1 });
				same(first?.fact, folded("run-1"), "what was folded");
				same(first?.runId, "run-1", "its run");
				const head = await journal.head("s");
				same([head?.seq, head?.waiting, head?.openRunId], [6, 1, undefined], "head");
				same(head?.updatedAt, before?.updatedAt, "time of the last change");
			}
			same((await one.submit("s", input("again", { dedupeKey: "d" }))).duplicate, true, "known input");
			await append(lease, "run-3", started);
			same((await readAll(one, 6))[0], [7, 1_000, "run-3", "run.started"], "the next entry");
		},
	},
	{
		title: "a reader whose position is among folded entries gets events_expired",
		needs: "fold",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await fold(await twoRuns(one), 6, "run-2");
			for (const journal of [one, two]) {
				for (const after of [1, 2, 3, 4]) await rejects("events_expired", () => journal.read("s", { after }));
				await rejects("events_expired", () => journal.read("s", { after: 1, limit: 1 }));
				for (const after of [0, 5]) same((await readAll(journal, after)).length, 1, `entries after ${after}`);
				for (const after of [6, 7]) same(await readAll(journal, after), [], `entries after ${after}`);
			}
		},
	},
	{
		title: "folding is refused while a run is open, and at an entry that ends no run",
		needs: "fold",
		async run(world) {
			const journal = await world.worker();
			const lease = await twoRuns(journal);
			for (const seq of [0, 1, 2, 5, 7]) await rejects("history_unsettled", () => fold(lease, seq));
			const unknown = await take(journal, "unknown");
			await rejects("history_unsettled", () => fold(unknown, 1));
			await append(lease, "run-3", started);
			await rejects("history_unsettled", () => fold(lease, 3));
			same((await readAll(journal)).length, 7, "entries");
			await append(lease, "run-3", ended);
			same(
				(await lease.append({ at: 1, runId: "run-1", facts: [folded("")], replaces: 3 })).ok,
				true,
				"fold",
			);
		},
	},
	{
		title: "folding is fenced: a lost lease cannot fold, and a lease that folds takes the session",
		needs: "fold",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const first = await twoRuns(one);
			const second = await take(two, "s");
			const stale = await take(one, "s");
			await fold(second, 3);
			await rejects("lease_lost", () => fold(stale, 6));
			await rejects("lease_lost", () => append(first, "run-3", started));
			same((await readAll(one)).length, 4, "entries");
			await two.delete("s");
			await rejects("lease_lost", () => fold(second, 6));
		},
	},
	{
		title: "folded entries are folded again together with later ones, and runs keep their names",
		needs: "fold",
		async run(world) {
			const journal = await world.worker();
			const lease = await twoRuns(journal);
			await fold(lease, 3);
			await fold(lease, 6, "run-2");
			await append(lease, "run-2", note("late"));
			await append(lease, "run-3", started, ended);
			const other = await take(await world.worker(), "s");
			await other.append({ at: 900, runId: "run-2", facts: [folded("")], replaces: 6 });
			const runs = (await readAll(journal)).map((entry) => (entry as unknown[])[2]);
			same(runs, ["run-2", "run-2", "run-3", "run-3"], "runs");
		},
	},
	{
		title: "a folded session is deleted completely",
		needs: "fold",
		async run(world) {
			const journal = await world.worker();
			await fold(await twoRuns(journal), 3);
			await journal.delete("s");
			same(await journal.read("s", { after: 1 }), [], "entries");
			same(await journal.head("s"), undefined, "head");
		},
	},
];
