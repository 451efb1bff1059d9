// Changes: every change of a store in one order, for current and later readers.
import { type Change, type ChangeLog, watchAll } from "holdfast/host";
import { append, begin, ended, eventually, input, note, same, started, take } from "../journal/index.ts";
import type { PortCase } from "./port-case.ts";

/** Reads all changes after a position, page by page. */
async function changesAfter(changes: ChangeLog, after: number, limit = 500): Promise<readonly Change[]> {
	const found: Change[] = [];
	for (let position = after; ; position = found.at(-1)?.position ?? position) {
		const page = await changes.read({ after: position, limit });
		if (page.length === 0) return found;
		found.push(...page);
	}
}

/** Returns the last change of each session. */
function lastOf(changes: readonly Change[]): string {
	const last = new Map(changes.map(({ key, kind, seq }) => [key, `${key} ${kind} ${seq}`]));
	return [...last.values()].sort().join();
}

export const changesCases: readonly PortCase[] = [
	{
		title: "every session that changed since a position is returned, with increasing positions",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			same([await one.changes.position(), await one.changes.read()], [0, []], "of a new store");
			const lease = await begin(one.journal, "a");
			await append(await begin(two.journal, "b"), "run-1", ended);
			same(lastOf(await changesAfter(one.changes, 0)), "a appended 1,b appended 2", "both of them");
			const position = await two.changes.position();
			await append(lease, "run-1", note(1), note(2));
			await two.journal.submit("c", input("i"));
			await append(lease, "run-1", ended);
			const since = await changesAfter(two.changes, position);
			same(lastOf(since), "a appended 4,c changed 0", "those since");
			const positions = since.map((change) => change.position);
			same(
				positions,
				[...positions].sort((x, y) => x - y),
				"that positions grow",
			);
			same(
				positions.every((each) => each > position),
				true,
				"that they are after the one asked for",
			);
			const { incarnation } = (await one.journal.head("a")) ?? {};
			same(since.find(({ key }) => key === "a")?.incarnation, incarnation, "whose changes they are");
			same(await one.changes.position(), positions.at(-1), "the last position");
		},
	},
	{
		title: "inputs, forks and folds are changes, and so are deletions for readers that had started",
		async run(world) {
			const { journal, changes } = await world.host();
			const lease = await begin(journal, "s");
			await append(lease, "run-1", ended);
			let position = await changes.position();
			const expectNext = async (what: string): Promise<void> => {
				const found = await changesAfter(changes, position);
				same(lastOf(found), what, `after ${position}`);
				position = found.at(-1)?.position ?? position;
				same(await changesAfter(changes, position), [], "once it was read");
			};
			await journal.submit("s", input("i", { kind: "notice" }));
			await expectNext("s changed 2");
			await journal.fork("s", "f", 2);
			await expectNext("f changed 2");
			if (journal.folds === true) {
				const state = { version: "1.0.0", id: "s", messages: [], step: 0, metadata: {} };
				const facts = [{ kind: "folded" as const, state, tools: [] }];
				await lease.append({ at: 1_000, runId: "run-1", facts, replaces: 2 });
				await expectNext("s changed 2");
			}
			const { incarnation } = (await journal.head("f")) ?? {};
			await journal.delete("f");
			same(
				(await changes.read({ after: position })).map((change) => change.incarnation),
				[incarnation],
				"whose end",
			);
			await expectNext("f deleted 2");
			await append(await begin(journal, "f", "run-2"), "run-2", note(1));
			await expectNext("f appended 2");
			await journal.delete("f");
			same(lastOf(await changes.read()), "s changed 2", "to those who begin");
		},
	},
	{
		title: "no position is reused, even if the last changed session is deleted",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			await one.journal.submit("first", input("i"));
			let position = await two.changes.position();
			for (let round = 0; round < 5; round++) {
				await append(await begin(one.journal, "s"), "run-1", note(round), ended);
				same(lastOf(await changesAfter(two.changes, position)), "s appended 3", `in round ${round}`);
				const before = await two.changes.position();
				await two.journal.delete("s");
				same(lastOf(await changesAfter(one.changes, before)), "s deleted 3", `its end in round ${round}`);
				position = await one.changes.position();
				same(position > before, true, "that the position has grown");
			}
		},
	},
	{
		title: "pages follow each other without a gap, even if much changes between them",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			for (let at = 0; at < 20; at++) await append(await begin(one.journal, `s${at}`), "run-1", note(at));
			const first = await two.changes.read({ limit: 7 });
			for (const at of [3, 18])
				await append(await take(one.journal, `s${at}`), "run-1", note("again"), ended);
			const rest = await changesAfter(two.changes, first.at(-1)?.position ?? 0, 7);
			const seen = new Set([...first, ...rest].map(({ key }) => key));
			same(seen.size, 20, "sessions");
			same(
				rest.filter(({ key }) => key === "s3" || key === "s18").map(({ seq }) => seq),
				[4, 4],
				"the last of them",
			);
		},
	},
	{
		title: "watchAll yields past changes and later ones of any worker, and ends with its signal",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			await append(await begin(one.journal, "before"), "run-1", ended);
			const stop = new AbortController();
			const heard: string[] = [];
			const watching = (async () => {
				for await (const { key, kind } of watchAll(one.changes, { signal: stop.signal }))
					heard.push(`${key} ${kind}`);
			})();
			await eventually("the past came", () => heard.length === 1);
			const from = await one.changes.position();
			await append(await begin(one.journal, "own"), "run-1", started);
			await eventually("what this host commits came", () => heard.includes("own appended"));
			await append(await begin(two.journal, "other"), "run-1", started);
			await eventually("changes committed by another worker", () => heard.includes("other appended"));
			stop.abort();
			await watching;
			const late = new AbortController();
			const missed: string[] = [];
			for await (const { key } of watchAll(two.changes, { after: from, signal: late.signal })) {
				missed.push(key);
				if (missed.length === 2) late.abort();
			}
			same(missed, ["own", "other"], "what was missed");
		},
	},
];
