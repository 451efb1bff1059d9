// One writer: leases, epochs, and workers that lose them (keeps I4).
import type { AppendResult, Fact, Lease, ListOptions, SessionHead } from "holdfast/host";
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

export const leaseCases: readonly WrittenCase[] = [
	{
		title: "the lease of an open run is refused while its holder lives, and the refusal names the holder",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await begin(one, "s");
			same(await two.acquire("s"), { ok: false, heldBy: one.workerId }, "second worker");
			same(await two.isAlive(one.workerId), true, "the holder lives");
			same(await two.isAlive("nobody"), false, "unknown workers are dead");
		},
	},
	{
		title: "any worker can acquire an idle session, and the earlier lease is fenced",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const first = await begin(one, "s");
			await append(first, "run-1", ended);
			const second = await take(two, "s");
			same([second.seq, second.openRunId], [2, undefined], "second lease");
			await append(second, "run-2", started);
			same(second.epoch > first.epoch, true, "the epoch rises");
			await rejects("lease_lost", () => append(first, "run-3", started));
			same(
				(await two.read("s")).map((entry) => entry.runId),
				["run-1", "run-1", "run-2"],
				"runs",
			);
		},
	},
	{
		title: "a lease is refused at its first append if the session has changed since the lease was requested",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const first = await begin(one, "s");
			await append(first, "run-1", ended);
			const second = await take(two, "s");
			await append(first, "run-2", started);
			await rejects("lease_lost", () => append(second, "run-3", started));
			await append(first, "run-2", note("undisturbed"));
			await append(first, "run-2", ended);
			const [third, fourth] = [await take(one, "s"), await take(two, "s")];
			await two.submit("s", input("i"));
			await third.append({ at: 1, runId: "run-4", facts: [], drain: ["i"] });
			await rejects("lease_lost", () => append(fourth, "run-5", started));
			const stale = await take(two, "new");
			await begin(one, "new");
			await rejects("lease_lost", () => append(stale, "run-3", started));
		},
	},
	{
		title: "if twenty workers request a session at once, exactly one can append",
		async run(world) {
			const workers = await Promise.all(Array.from({ length: 4 }, () => world.worker()));
			const outcomes = await Promise.all(
				Array.from({ length: 20 }, async (_, index) => {
					const worker = workers[index % workers.length] as (typeof workers)[number];
					const asked = await worker.acquire("s");
					if (!asked.ok) return "refused";
					try {
						await append(asked.lease, `run-${index}`, started);
						return "holder";
					} catch (error) {
						return (error as { code?: string }).code;
					}
				}),
			);
			const [journal] = workers as [(typeof workers)[number]];
			const holders = outcomes.filter((outcome) => outcome === "holder").length;
			same(
				outcomes.every(
					(outcome) => outcome === "holder" || outcome === "refused" || outcome === "lease_lost",
				),
				true,
				`outcomes ${outcomes}`,
			);
			// Leases of one worker fence each other, so a worker that takes the session again after its own append may
			// follow it.
			same((await journal.read("s")).length, holders, "entries");
			const crossing = await Promise.all(
				workers.map(async (worker): Promise<[string, Lease]> => [worker.workerId, await take(worker, "t")]),
			);
			const results = await Promise.allSettled(
				crossing.map(async ([id, lease]) => append(lease, id, started)),
			);
			same(
				results.filter((result) => result.status === "fulfilled").length,
				1,
				"winners among leases seen at one time",
			);
			same((await journal.read("t")).length, 1, "entries of the winners");
		},
	},
	{
		title: "a worker's newer lease fences its older one",
		async run(world) {
			const journal = await world.worker();
			const older = await begin(journal, "s");
			const newer = await take(journal, "s");
			same(newer.openRunId, "run-1", "open run");
			await append(older, "run-1", note("older"));
			await rejects("lease_lost", () => append(newer, "run-1", note("newer, but stale")));
			const newest = await take(journal, "s");
			await append(newest, "run-1", note("newest"));
			await rejects("lease_lost", () => append(older, "run-1", note("older again")));
			same(notes(await journal.read("s")), ["older", "newest"], "notes");
		},
	},
	{
		title: "seizing takes a session from a living holder, which is notified",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s");
			const lost = listen(lease);
			const seized = await take(two, "s", "seize");
			same(seized.openRunId, "run-1", "the run to end");
			await append(lease, "run-1", note("continued meanwhile"));
			same([lost(), lease.isLost], [false, false], "loss before anything was recorded");
			const killed = { kind: "run.ended", outcome: "killed" } as const;
			const result: AppendResult = await seized.append({ at: 1, runId: "run-1", facts: [killed] });
			same(result, { ok: true, seq: 3 }, "the end, after all that was committed");
			await eventually("the holder is notified", lost);
			await rejects("lease_lost", () => append(lease, "run-1", note("too late")));
			same((await one.read("s")).length, 3, "entries");
		},
	},
	{
		title: "a loss is detected even if it happened without a listener",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			let heard = false;
			one.watch("other", () => {
				heard = true;
			});
			const lease = await begin(one, "s");
			await append(await take(two, "s", "seize"), "run-1", note("seized"));
			await two.submit("other", input("after it"));
			await eventually("the holder's store has seen what came after", () => heard);
			listen(lease);
			await eventually("the lease is lost", () => lease.isLost, 2_000);
		},
	},
	{
		title: "seizing is refused if the expected run has ended in the meantime",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s");
			const seized = await take(two, "s", "seize");
			await append(lease, "run-1", ended);
			await rejects("lease_lost", () => append(seized, "run-1", { kind: "run.ended", outcome: "killed" }));
			same((await two.read("s")).length, 2, "entries");
		},
	},
	{
		title: "any worker can acquire a released session with its open run",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s");
			await lease.release();
			await lease.release();
			await rejects("lease_lost", () => append(lease, "run-1", note("after release")));
			const next = await take(two, "s");
			same([next.seq, next.openRunId], [1, "run-1"], "next lease");
			await append(next, "run-1", note("next"));
			same((await one.head("s"))?.holder?.workerId, two.workerId, "holder");
		},
	},
	{
		title: "deleting fences the holder, and a recreated session starts above all earlier epochs",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s");
			const lost = listen(lease);
			await two.submit("s", input("i", { dedupeKey: "d" }));
			await two.delete("s");
			await two.delete("s");
			await eventually("the holder is notified", lost);
			await rejects("lease_lost", () => append(lease, "run-1", note("too late")));
			same(await one.head("s"), undefined, "head");
			same(await one.read("s"), [], "entries");
			const again = await begin(two, "s", "run-2");
			same(again.epoch > lease.epoch, true, "the epoch rises");
			await rejects("lease_lost", () => append(lease, "run-1", note("too late")));
			same(await again.inbox(), [], "inputs of the deleted session");
			same(
				(await one.submit("s", input("i", { dedupeKey: "d" }))).duplicate,
				false,
				"its dedupe keys are gone too",
			);
			same((await one.read("s")).length, 1, "entries made again");
		},
	},
	{
		title:
			"a lease older than a session that was created and deleted since starts above its epochs, or is lost",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const early = await take(one, "s");
			const between = await begin(two, "s");
			await two.delete("s");
			const error = await append(early, "run-2", started).then(
				() => undefined,
				(reason: { code?: unknown }) => reason.code,
			);
			const isAbove = error === undefined && early.epoch > between.epoch;
			same(isAbove || error === "lease_lost", true, `begun (${error}) under ${early.epoch}`);
		},
	},
	{
		title: "a conditional deletion removes nothing if the session has changed",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const seenBy = async (): Promise<SessionHead> => (await two.head("s")) as SessionHead;
			const lease = await begin(one, "s");
			const open = await seenBy();
			await append(lease, "run-1", ended);
			await rejects("lease_lost", () => two.delete("s", open));
			const idle = await seenBy();
			// The same epoch, taken without an additional entry.
			await append(lease, "run-2", started);
			await rejects("lease_lost", () => two.delete("s", idle));
			await append(lease, "run-2", ended);
			const again = await seenBy();
			await (await take(two, "s")).append({ at: 1, runId: "run-3", facts: [] });
			await rejects("lease_lost", () => two.delete("s", again));
			same((await one.read("s")).length, 4, "entries");
			const last = await seenBy();
			await one.submit("s", input("goes with it"));
			await two.delete("s", last);
			await two.delete("s", last);
			same(await one.head("s"), undefined, "head");
		},
	},
	{
		title: "each death of a worker has its own mark, if the journal reports deaths",
		needs: "kill",
		async run(world) {
			const [one, two, three] = [await world.worker(), await world.worker(), await world.worker()];
			await begin(one, "s");
			await begin(three, "t");
			if (two.deaths === undefined) return;
			const marks = async (): Promise<number> => new Set(await two.deaths?.()).size;
			same(await marks(), 0, "deaths while all live");
			await world.kill(one);
			await eventually("one is dead", async () => (await marks()) === 1);
			await world.kill(three);
			await eventually("two are dead", async () => (await marks()) === 2);
		},
	},
	{
		title: "a dead worker's run is taken over within two seconds, with all its commits",
		needs: "kill",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await append(await begin(one, "s"), "run-1", note("before"));
			await world.kill(one);
			await eventually("the session is free", async () => (await two.acquire("s")).ok, 2_000);
			same(await two.isAlive(one.workerId), false, "the dead worker is dead");
			same(
				(await two.list({ state: "orphaned" })).map((head) => head.key),
				["s"],
				"orphaned sessions",
			);
			const lease = await take(two, "s");
			same([lease.seq, lease.openRunId], [2, "run-1"], "lease");
			await append(lease, "run-1", { kind: "run.resumed", attempt: 2, fingerprint: "f", reason: "crash" });
			same(notes(await two.read("s")), ["before"], "notes");
		},
	},
	{
		title: "a parked run is open and not orphaned until it is resumed",
		needs: "kill",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await begin(one, "s");
			await world.kill(one);
			await eventually("the session is free", async () => (await two.acquire("s")).ok, 2_000);
			const lease = await take(two, "s");
			await append(lease, "run-1", { kind: "run.parked", reason: "crash", crashes: 6 });
			await lease.release();
			await two.submit("s", input("i"));
			const keys = async (state: "open" | "orphaned"): Promise<string[]> =>
				(await two.list({ state })).map((head) => head.key);
			const head = await two.head("s");
			same([head?.parked, head?.openRunId, head?.waiting], [true, "run-1", 1], "the head of a parked run");
			same([await keys("open"), await keys("orphaned")], [["s"], []], "where it is listed");
			const fact: Fact = { kind: "run.resumed", attempt: 2, fingerprint: "f", reason: "released" };
			await append(await take(two, "s"), "run-1", fact);
			same((await two.head("s"))?.parked, undefined, "parked, once it was resumed");
		},
	},
	{
		title: "runs that wait for an outside answer are open but not orphaned, and are found by their deadlines",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const waits = (...deadlines: (number | undefined)[]): Fact => ({
				kind: "waiting",
				step: 1,
				calls: deadlines.map((deadline, at) => ({
					callId: `call-${at}`,
					awaits: deadline === undefined ? "approval" : "result",
					since: 1_000,
					...(deadline === undefined ? {} : { deadline }),
				})),
			});
			const facts = {
				early: waits(9_000, 5_000, undefined),
				late: waits(7_000),
				patient: waits(undefined),
				working: note("at work"),
			};
			for (const [key, fact] of Object.entries(facts)) {
				const lease = await begin(one, key);
				await append(lease, "run-1", fact);
				await lease.release();
			}
			const keys = async (options: ListOptions): Promise<string> =>
				(await two.list(options)).map(({ key }) => key).join();
			same(await keys({ state: "waiting" }), "early,late,patient", "all that wait");
			same(await keys({ state: "open" }), "early,late,patient,working", "open");
			same(await keys({ state: "orphaned" }), "working", "orphaned");
			same(await keys({ state: "waiting", dueBy: 4_999 }), "", "due by 4999");
			same(await keys({ state: "waiting", dueBy: 5_000 }), "early", "due by 5000");
			same(await keys({ state: "waiting", dueBy: 9e15 }), "early,late", "due some day");
			same(await keys({ state: "waiting", dueBy: 9e15, prefix: "la", limit: 1 }), "late", "of a prefix");
			const lease = await take(two, "early");
			await append(lease, "run-1", { kind: "run.resumed", attempt: 2, fingerprint: "f", reason: "answered" });
			same(await keys({ state: "waiting" }), "late,patient", "after one was answered");
			await append(lease, "run-1", waits(6_000));
			await append(lease, "run-1", ended);
			same(await keys({ state: "waiting", dueBy: 9e15 }), "late", "once it has ended");
		},
	},
	{
		title: "a stopped worker that wakes after a takeover commits nothing, and is notified",
		needs: "stop",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s");
			const lost = listen(lease);
			await world.stop(one);
			await eventually("the session is free", async () => (await two.acquire("s")).ok);
			await append(await take(two, "s"), "run-1", note("taken over"));
			await world.wake(one);
			await rejects("lease_lost", () => append(lease, "run-1", note("awake")));
			await eventually("the worker is notified", lost);
			same(notes(await two.read("s")), ["taken over"], "notes");
		},
	},
	{
		title: "a stopped worker that wakes before a takeover continues",
		needs: "stop",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s");
			await world.stop(one);
			const asked = await take(two, "s");
			await world.wake(one);
			await append(lease, "run-1", note("awake"));
			await rejects("lease_lost", () => append(asked, "run-1", note("looked, but came late")));
			same(lease.isLost, false, "its loss");
			same(notes(await two.read("s")), ["awake"], "notes");
		},
	},
];

/** Listens for the loss of a lease. Returns a function that reports whether it was lost. */
function listen(lease: Lease): () => boolean {
	let heard = 0;
	lease.whenLost(() => {
		heard++;
	});
	return () => {
		same(heard <= 1, true, "notified at most once");
		same(heard === 0 || lease.isLost, true, "the notification is correct");
		return heard === 1;
	};
}
