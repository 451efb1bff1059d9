// Inputs from outside: from any process, at any time, once, in order, and accepted together with the resulting facts.
import type { Input, Lease } from "holdfast/host";
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

export const inboxCases: readonly WrittenCase[] = [
	{
		title: "inputs by all workers wait in one order, with all their data",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s");
			const full: Input = {
				...input("b", { kind: "steer" }),
				runId: "run-1",
				dedupeKey: "d",
				workerId: two.workerId,
			};
			const orders: number[] = [];
			orders.push((await one.submit("s", input("a"))).order);
			orders.push((await two.submit("s", full)).order);
			orders.push((await one.submit("s", input("c", { kind: "stop", body: null }))).order);
			same(
				orders.every((order, index) => index === 0 || order > (orders[index - 1] ?? 0)),
				true,
				`orders ${orders}`,
			);
			const waiting = await lease.inbox();
			same(
				waiting.map(({ id }) => id),
				["a", "b", "c"],
				"ids",
			);
			same(
				waiting.map(({ order }) => order),
				orders,
				"orders",
			);
			const { kind, runId, dedupeKey, workerId, body } = waiting[1] as Input;
			same({ id: "b", kind, body, runId, dedupeKey, workerId }, full, "the full one");
			same(waiting[2]?.body, null, "an empty body");
			same((await two.head("s"))?.waiting, 3, "waiting");
		},
	},
	{
		title: "any worker can read an inbox without affecting the session's holder",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			same(await two.inbox("s"), [], "of a session that is not there");
			const lease = await begin(one, "s");
			await two.submit("s", input("a", { kind: "steer", runId: "run-1" }));
			await one.submit("s", input("b"));
			const waiting = await lease.inbox();
			same(await two.inbox("s"), waiting, "the inbox as another worker reads it");
			same(await one.inbox("s"), waiting, "the inbox as its holder reads it");
			await append(lease, "run-1", note("undisturbed"));
			await lease.append({ at: 1_000, runId: "run-1", facts: [note("taken in")], drain: ["a"] });
			same(
				(await two.inbox("s")).map(({ id }) => id),
				["b"],
				"what is left",
			);
			same(lease.isLost, false, "the lease");
		},
	},
	{
		title: "the first input creates a session, and any worker that acquires it gets the input",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const early = await take(two, "s");
			same(await one.submit("s", input("a")), { duplicate: false, order: 1 }, "first input");
			const head = await two.head("s");
			same([head?.seq, head?.waiting, head?.openRunId], [0, 1, undefined], "head");
			same(
				(await early.inbox()).map(({ id }) => id),
				["a"],
				"inbox",
			);
			await append(early, "r", started);
		},
	},
	{
		title: "an input requested by a run is accepted while that run is open, and otherwise leaves nothing",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const asking = (id: string, runId: string): Input => input(id, { askedBy: { key: "s", runId } });
			const here = input("a", { askedBy: { key: "s" } });
			await rejects("lease_lost", () => two.submit("s", here));
			await rejects("lease_lost", () => two.submit("child", asking("a", "run-1")));
			same(await one.head("child"), undefined, "before there is such a session");
			const lease = await begin(one, "s");
			await two.submit("child", asking("b", "run-1"));
			await rejects("lease_lost", () => two.submit("child", asking("c", "run-2")));
			await append(lease, "run-1", ended);
			await rejects("lease_lost", () => two.submit("child", asking("d", "run-1")));
			await begin(two, "s", "run-2");
			await rejects("lease_lost", () => two.submit("child", asking("e", "run-1")));
			same((await two.submit("s", here)).duplicate, false, "asked for by a session");
			const [kept, ...others] = await (await take(one, "child")).inbox();
			same([kept?.id, kept !== undefined && "askedBy" in kept, others], ["b", false, []], "what is kept");
		},
	},
	{
		title: "an input for one session is not accepted by a later session with the same key",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await begin(one, "s");
			const incarnation = (await two.head("s"))?.incarnation ?? "";
			const asking = (id: string, runId?: string): Input =>
				input(id, { askedBy: { key: "s", incarnation, ...(runId === undefined ? {} : { runId }) } });
			same((await two.submit("s", asking("a"))).duplicate, false, "while it is there");
			await two.submit("child", asking("b", "run-1"));
			await one.delete("s");
			await rejects("lease_lost", () => two.submit("s", asking("c")));
			same(await one.head("s"), undefined, "removed inputs do not return");
			await begin(one, "s");
			await rejects("lease_lost", () => two.submit("s", asking("d")));
			await rejects("lease_lost", () => two.submit("child", asking("e", "run-1")));
			same(await two.inbox("s"), [], "the inbox of the new one");
			same(
				(await two.inbox("child")).map(({ id }) => id),
				["b"],
				"the child's",
			);
		},
	},
	{
		title: "two inputs with the same dedupe key count as one, even if the first was already accepted",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await take(one, "s");
			const first = await one.submit("s", input("a", { dedupeKey: "k" }));
			same(
				await two.submit("s", input("b", { dedupeKey: "k" })),
				{ duplicate: true, order: first.order },
				"second",
			);
			same(
				(await two.submit("other", input("b", { dedupeKey: "k" }))).duplicate,
				false,
				"in another session",
			);
			await lease.append({ at: 1, runId: "r", facts: [started], drain: ["a"] });
			same((await two.submit("s", input("c", { dedupeKey: "k" }))).duplicate, true, "after draining");
			same(await lease.inbox(), [], "inbox");
			same((await one.submit("s", input("d"))).order > first.order, true, "orders are not used again");
		},
	},
	{
		title: "an append that accepts an input directly registers its dedupe key once, like a submitted input",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await take(one, "s");
			const begins = (by: Lease, runId: string, dedupeKey: string): unknown =>
				by.append({ at: 1, runId, facts: [started, note(dedupeKey), ended], dedupeKey });
			same(await begins(lease, "r1", "k"), { ok: true, seq: 3 }, "first append");
			await rejects("duplicate_input", () => begins(lease, "r2", "k"));
			same(lease.isLost, false, "the lease");
			const known = { duplicate: true, order: 0 };
			same(await two.submit("s", input("a", { dedupeKey: "k" })), known, "submitted after that");
			same(await begins(lease, "r3", "l"), { ok: true, seq: 6 }, "another key");
			for (const key of ["k", "l"])
				await rejects("duplicate_input", async () => begins(await take(two, "s"), "r4", key));
			same(
				await two.submit("s", input("b", { dedupeKey: "m" })),
				{ duplicate: false, order: 1 },
				"submitted",
			);
			await rejects("duplicate_input", async () => begins(await take(two, "s"), "r5", "m"));
			const next = await take(two, "s");
			await next.append({ at: 1, runId: "r6", facts: [started, ended], drain: ["b"] });
			await rejects("duplicate_input", () => begins(next, "r7", "m"));
			for (const key of ["k", "l", "m"])
				same((await one.submit("s", input("c", { dedupeKey: key }))).duplicate, true, `${key} is known`);
			same(notes(await one.read("s")), ["k", "l"], "what was begun");
			same(await begins(await take(one, "other"), "r8", "k"), { ok: true, seq: 3 }, "in another session");
			await one.delete("s");
			same(await begins(await take(two, "s"), "r9", "k"), { ok: true, seq: 3 }, "in one made anew");
		},
	},
	{
		title: "of two concurrent appends, or an append and a submission, of one input, one succeeds",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			for (let round = 0; round < 20; round++) {
				const key = `s${round % 4}`;
				const dedupeKey = `k${round}`;
				const leases = [await take(one, key), await take(two, key)];
				const begun = leases.map(async (lease, index) => {
					const facts = [started, note(dedupeKey), ended];
					return (await lease.append({ at: 1, runId: `${round} ${index}`, facts, dedupeKey })).ok;
				});
				const submitted = one.submit(key, input(dedupeKey, { dedupeKey }));
				const began = (await Promise.allSettled(begun)).filter(({ status }) => status === "fulfilled");
				same(began.length + Number(!(await submitted).duplicate), 1, `accepted in round ${round}`);
			}
		},
	},
	{
		title: "draining is atomic with the facts: both are committed or neither",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s");
			for (const id of ["a", "b", "c"]) await two.submit("s", input(id));
			await lease.append({ at: 1, runId: "run-1", facts: [note("took a and c")], drain: ["a", "c"] });
			same(
				(await lease.inbox()).map(({ id }) => id),
				["b"],
				"inbox",
			);
			const next = await take(two, "s", "seize");
			await append(next, "run-1", ended);
			await rejects("lease_lost", () =>
				lease.append({ at: 1, runId: "run-1", facts: [note("b")], drain: ["b"] }),
			);
			same(
				(await next.inbox()).map(({ id }) => id),
				["b"],
				"inbox after a refused append",
			);
			same((await one.read("s")).length, 3, "entries");
		},
	},
	{
		title: "appends after one that lost its lease are lost too, even if both are in flight together",
		async run(world) {
			const lease = await begin(await world.worker(), "s");
			const both = [["gone"], []].map(async (drain) =>
				lease.append({ at: 1, runId: "run-1", facts: [note(drain)], drain }),
			);
			for (const each of both) await rejects("lease_lost", () => each);
			same((await (await world.worker()).read("s")).length, 1, "entries");
		},
	},
	{
		title:
			"an input that was deleted with its session is not accepted, even by a lease older than the session",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await take(two, "s");
			await one.submit("s", input("a"));
			same(
				(await lease.inbox()).map(({ id }) => id),
				["a"],
				"inbox",
			);
			await one.delete("s");
			await rejects("lease_lost", () =>
				lease.append({ at: 1, runId: "run-1", facts: [started], drain: ["a"] }),
			);
			same(await one.head("s"), undefined, "a session that is gone");
			// The same after the session was created again.
			const again = await take(two, "s");
			await one.submit("s", input("b"));
			await again.inbox();
			await one.delete("s");
			await one.submit("s", input("c"));
			await rejects("lease_lost", () =>
				again.append({ at: 1, runId: "run-1", facts: [started], drain: ["b"] }),
			);
			const next = await take(one, "s");
			same(
				(await next.inbox()).map(({ id }) => id),
				["c"],
				"inbox of the new session",
			);
		},
	},
	{
		title: "a run ends only if no input for it waits",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s");
			const end = (drain: readonly string[] = []): unknown =>
				lease.append({ at: 1, runId: "run-1", facts: [ended], drain, onlyIfNothingWaits: true });
			const refused = { ok: false, reason: "inputs-waiting" };
			await two.submit("s", input("next message"));
			await two.submit("s", input("steer of another run", { kind: "steer", runId: "run-0" }));
			for (const kind of ["steer", "stop", "edit", "tool-result", "approval", "timer"] as const) {
				await two.submit("s", input(kind, { kind, runId: "run-1" }));
				same(await end(), refused, `end with a waiting ${kind}`);
				same(
					(await lease.append({ at: 1, runId: "run-1", facts: [], drain: [kind] })).ok,
					true,
					"draining alone",
				);
			}
			await two.submit("s", input("a"));
			await two.submit("s", input("whichever run", { kind: "steer" }));
			same(await end(), refused, "end with an input for whichever run");
			same((await one.head("s"))?.openRunId, "run-1", "the run is still open");
			same(await end(["whichever run"]), { ok: true, seq: 2 }, "end that accepts the last input");
			same(
				(await lease.inbox()).map(({ id }) => id),
				["next message", "steer of another run", "a"],
				"what waits on",
			);
		},
	},
	{
		title: "a session is orphaned if a message of a dead worker waits in it, or one for an ended run",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await one.submit("s", input("a", { workerId: one.workerId }));
			await one.submit("t", input("b", { kind: "steer" }));
			await one.submit("u", input("c", { kind: "steer", runId: "over", workerId: one.workerId }));
			const orphaned = async (): Promise<string[]> =>
				(await two.list({ state: "orphaned" })).map(({ key }) => key);
			same(await orphaned(), ["u"], "orphaned while its worker lives");
			await one.close();
			same(await orphaned(), ["s", "u"], "orphaned when its worker left");
			same(await two.list({ state: "open" }), [], "open sessions");
		},
	},
];
