// Appended facts are read in order by every reader; sessions are found and kept apart.
import type { Entry, Fact, ListOptions } from "holdfast/host";
import {
	append,
	begin,
	ended,
	eventually,
	input,
	note,
	notes,
	rejects,
	same,
	started,
	take,
	type WrittenCase,
} from "./journal-world.ts";

const oddKeys: readonly string[] = [
	"",
	"a",
	"A",
	"a/b",
	"a\\b",
	"../a",
	"con",
	"a\0",
	"a\0b",
	"a\nb",
	'a"b',
	"a\\u0000b",
	"😀",
	"\ud83d",
	"\ud83e",
	"\u00e9",
	"e\u0301",
	"%2e%2e",
	" a",
	"a ",
	`${"k".repeat(9_999)}1`,
	`${"k".repeat(9_999)}2`,
];

export const appendCases: readonly WrittenCase[] = [
	{
		title: "facts are read back in order, with their seq, run and time",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await take(one, "s");
			const first = await lease.append({ at: 5, runId: "r1", facts: [started, note(1)] });
			same(first, { ok: true, seq: 2 }, "first append");
			await lease.append({ at: 6, runId: "r1", facts: [ended] });
			await lease.append({ at: 7, runId: "r2", facts: [started, note({ deep: ["ä", 2, null] })] });
			const expected = [
				{ seq: 1, at: 5, runId: "r1", fact: started },
				{ seq: 2, at: 5, runId: "r1", fact: note(1) },
				{ seq: 3, at: 6, runId: "r1", fact: ended },
				{ seq: 4, at: 7, runId: "r2", fact: started },
				{ seq: 5, at: 7, runId: "r2", fact: note({ deep: ["ä", 2, null] }) },
			];
			const plain = (entries: readonly Entry[]): unknown[] =>
				entries.map(({ seq, at, runId, fact }) => ({ seq, at, runId, fact: sorted(fact) }));
			const wanted = plain(expected);
			for (const journal of [one, two]) {
				same(plain(await journal.read("s")), wanted, "all entries");
				same(plain(await journal.read("s", { after: 2 })), wanted.slice(2), "entries after 2");
				same(plain(await journal.read("s", { after: 1, limit: 2 })), wanted.slice(1, 3), "two after 1");
				same(plain(await journal.read("s", { after: 5 })), [], "entries after the last");
				same(plain(await journal.read("unknown")), [], "entries of an unknown session");
			}
		},
	},
	{
		title: "concurrent appends are committed in the order of the calls",
		async run(world) {
			const journal = await world.worker();
			const lease = await take(journal, "s");
			const results = await Promise.all(
				Array.from({ length: 20 }, async (_, index) =>
					lease.append({ at: 1, runId: "r", facts: [note(index), note(-index)] }),
				),
			);
			same(
				results.map((result) => result.ok && result.seq),
				Array.from({ length: 20 }, (_, index) => 2 * index + 2),
				"seqs",
			);
			same(
				notes(await journal.read("s")),
				Array.from({ length: 20 }, (_, index) => [index, -index]).flat(),
				"notes",
			);
		},
	},
	{
		title: "a thousand sessions append at once, each in its own order",
		async run(world) {
			const journal = await world.worker();
			const keys = Array.from({ length: 1_000 }, (_, index) => `s${index}`);
			await Promise.all(
				keys.map(async (key) => {
					const lease = await begin(journal, key, key);
					await append(lease, key, note(key));
					await append(lease, key, ended);
				}),
			);
			for (const key of keys) same(notes(await journal.read(key)), [key], `notes of ${key}`);
			same((await journal.list({ state: "open" })).length, 0, "open sessions");
		},
	},
	{
		title: "a head contains the state of a session",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			same(await one.head("s"), undefined, "head of an unknown session");
			const lease = await begin(one, "s", "r1");
			for (const journal of [one, two]) {
				const head = await journal.head("s");
				same(head?.key, "s", "key");
				same(head?.seq, 1, "seq");
				same(head?.epoch, lease.epoch, "epoch");
				same(head?.openRunId, "r1", "open run");
				same([head?.holder?.workerId, head?.holder?.alive], [one.workerId, true], "holder");
				same(head?.waiting, 0, "waiting inputs");
			}
			await append(lease, "r1", ended);
			const head = await two.head("s");
			same([head?.seq, head?.openRunId, head?.holder], [2, undefined, undefined], "head of an idle session");
		},
	},
	{
		title: "different keys stay different, even unusual or long ones",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			for (const key of oddKeys) {
				await one.submit(key, input(key, { dedupeKey: key }));
				const lease = await take(one, key);
				await lease.append({ at: 1, runId: key, facts: [started, note(key)] });
			}
			for (const key of oddKeys) {
				const name = JSON.stringify(key.slice(0, 20));
				same(notes(await two.read(key)), [key], `notes of ${name}`);
				same((await two.read(key, { after: 1 }))[0]?.runId, key, `run of ${name}`);
				same((await two.head(key))?.openRunId, key, `open run of ${name}`);
				const [waiting] = await (await take(two, key, "seize")).inbox();
				same([waiting?.id, waiting?.dedupeKey], [key, key], `input of ${name}`);
			}
			const listed = (await two.list()).map((head) => head.key);
			same([...listed].sort(), [...oddKeys].sort(), "listed keys");
			for (const key of oddKeys) await two.delete(key);
			same(await one.list(), [], "sessions after their deletion");
		},
	},
	{
		title: "a list can be limited to the sessions of a prefix that changed since a time",
		async run(world) {
			const one = await world.worker();
			const keys = ["a", "b1", "b2", "b3", "b4", "b\u{10ffff}", "c"];
			for (const [at, key] of keys.entries()) {
				const lease = await take(one, key);
				await lease.append({ at: 1e15 + at, runId: key, facts: [started] });
				const continues = key === "b1";
				const last = continues ? { at: 1e15 + 9, facts: [note("later")] } : { at: 1e15 + at, facts: [ended] };
				await lease.append({ runId: key, ...last });
			}
			const since = async (at: number, options: ListOptions = {}): Promise<string> =>
				(await one.list({ changedSince: 1e15 + at, ...options })).map(({ key }) => key).join();
			same(await since(0), keys.join(), "all");
			same(await since(3), "b1,b3,b4,b\u{10ffff},c", "since the third");
			same(await since(3, { prefix: "b" }), "b1,b3,b4,b\u{10ffff}", "of a prefix");
			same(await since(3, { prefix: "b", limit: 1, after: "b3" }), "b4", "page by page");
			same(await since(0, { state: "open" }), "b1", "open");
			same(await since(10), "", "none");
		},
	},
	{
		title: "sessions are listed page by page: all, open or orphaned",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			for (const key of ["a", "b", "c", "d", "e"]) {
				const lease = await begin(one, key, key);
				if (key === "a") await append(lease, key, ended);
				if (key === "e") await lease.release();
			}
			const keys = async (options: Parameters<typeof two.list>[0]): Promise<string[]> =>
				(await two.list(options)).map((head) => head.key);
			same(await keys({}), ["a", "b", "c", "d", "e"], "all");
			same(await keys({ limit: 2 }), ["a", "b"], "first page");
			same(await keys({ after: "b", limit: 2 }), ["c", "d"], "second page");
			same(await keys({ state: "open" }), ["b", "c", "d", "e"], "open");
			same(await keys({ state: "open", after: "b", limit: 1 }), ["c"], "open, a page");
			same(await keys({ state: "orphaned" }), ["e"], "orphaned");
			await one.close();
			same(await keys({ state: "orphaned", limit: 3 }), ["b", "c", "d"], "orphaned by a closed worker");
		},
	},
	{
		title: "a list by prefix contains only the sessions with that prefix",
		async run(world) {
			const journal = await world.worker();
			for (const key of ["a", "b", "b\u0000", "b\u0000x", "b\u0000y", "b\u0001", "ba", "c"])
				await append(await begin(journal, key, key), key, ended);
			await begin(journal, "b\u0000z", "open");
			const keys = async (options: Parameters<typeof journal.list>[0]): Promise<string[]> =>
				(await journal.list(options)).map((head) => head.key);
			const alike = ["b\u0000", "b\u0000x", "b\u0000y", "b\u0000z"];
			same(await keys({ prefix: "b\u0000" }), alike, "all of them");
			same(await keys({ prefix: "b\u0000", limit: 2 }), alike.slice(0, 2), "first page");
			same(await keys({ prefix: "b\u0000", after: "b\u0000x" }), alike.slice(2), "after one of them");
			same(await keys({ prefix: "b\u0000", after: "a" }), alike, "after a key before them");
			same(await keys({ prefix: "b\u0000", after: "c" }), [], "after a key after them");
			same(await keys({ prefix: "b\u0000", state: "open" }), ["b\u0000z"], "open");
			same(await keys({ prefix: "d" }), [], "none");
		},
	},
	{
		title: "a watcher is notified of entries and inputs by any worker, until it unsubscribes",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const heard: string[] = [];
			const leave = one.watch("s", () => heard.push("s"));
			one.watch("other", () => heard.push("other"));
			let last = "";
			one.watch("t", () => {
				last = "t";
			});
			const hears = (what: string): Promise<void> =>
				eventually(`the watcher is notified of ${what}`, () => heard.splice(0).includes("s"));
			await append(await take(one, "s"), "r", note(1));
			await hears("its own worker's entry");
			await two.submit("s", input("i"));
			await hears("another worker's input");
			const lease = await take(two, "s");
			await append(lease, "r", note(2));
			await hears("another worker's entry");
			leave();
			await append(lease, "r", note(3));
			await two.submit("t", input("i"));
			await eventually("a notification of a later change", () => last === "t");
			same(heard, [], "notifications after unsubscribing, or of other sessions");
		},
	},
	{
		title: "a closed journal refuses work and leaves its open runs to others",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s");
			const last = append(lease, "run-1", note("last"));
			await one.close();
			await last;
			await one.close();
			await rejects("journal_closed", () => append(lease, "run-1", note("late")));
			await rejects("journal_closed", () => one.read("s"));
			await rejects("journal_closed", () => one.submit("s", input("late")));
			const next = await take(two, "s");
			same([next.seq, next.openRunId], [2, "run-1"], "the lease after it");
			same(notes(await two.read("s")), ["last"], "notes");
		},
	},
];

/** Sorts the members of an object, whose order JSON equality ignores. */
function sorted(fact: Fact): unknown {
	return Object.fromEntries(Object.entries(fact).sort(([a], [b]) => (a < b ? -1 : 1)));
}
