// Cases about runs, their leases, checkpoints and events.
import type { AgentEvent } from "holdfast/types";
import { checkpoint, claim, expectSame, readAll, run, type WrittenCase } from "./execution-host-world.ts";

export const runCases: readonly WrittenCase[] = [
	{
		title: "a run is created once: later requests with its id or dedupe key change nothing",
		async run({ store: { runs } }, other) {
			const first = await runs.create(run("a", { dedupeKey: "d", parentRunId: "p", ownerNamespace: "n" }));
			expectSame(first.rootRunId, "p", "root of a run whose parent is not recorded");
			expectSame(first.checkpointVersion, 0, "checkpoints of a new run");
			const again = await other.store.runs.create(run("a", { status: "error" }));
			expectSame(again, first, "same id");
			const byKey = await other.store.runs.create(run("b", { dedupeKey: "d" }));
			expectSame(byKey, first, "same dedupe key");
			expectSame(await runs.get("b"), null, "run of the second");
			expectSame(await runs.getByDedupeKey("d"), first, "by dedupe key");
			expectSame(await runs.getByDedupeKey("e"), null, "by unknown key");
			expectSame(await other.store.runs.get("a"), first, "the run, unchanged");
		},
	},
	{
		title: "of runs created concurrently with one dedupe key, one is kept",
		async run({ store: { runs } }, other) {
			const made = await Promise.all(
				Array.from({ length: 10 }, (_, index) =>
					(index % 2 === 0 ? runs : other.store.runs).create(run(`r${index}`, { dedupeKey: "d" })),
				),
			);
			expectSame(new Set(made.map(({ runId }) => runId)).size, 1, "runs that are kept");
			const kept = await Promise.all(made.map((_, index) => runs.get(`r${index}`)));
			expectSame(kept.filter((each) => each !== null).length, 1, "runs created");
		},
	},
	{
		title: "the child runs of a run are listed in the order of creation",
		async run({ store: { runs } }, other) {
			await runs.create(run("parent"));
			for (const runId of ["z", "a", "m"]) await runs.create(run(runId, { parentRunId: "parent" }));
			await other.store.runs.create(run("grandchild", { parentRunId: "z", rootRunId: "parent" }));
			const children = await other.store.runs.listByParentRunId("parent");
			expectSame(
				children.map(({ runId }) => runId),
				["z", "a", "m"],
				"children",
			);
			expectSame((await runs.get("grandchild"))?.rootRunId, "parent", "root of the grandchild");
			expectSame(await runs.listByParentRunId("m"), [], "children of a leaf");
		},
	},
	{
		title: "a claim excludes others until it expires, and each new claim counts as an attempt",
		async run(host, other, world) {
			const { runs } = host.store;
			await runs.create(run("a"));
			const claimed = await claim(host, "first");
			if (!claimed.ok) throw new Error("A free run could not be claimed.");
			expectSame([claimed.record.status, claimed.lease.attempt], ["leased", 1], "first claim");
			expectSame(claimed.record.lease, claimed.lease, "lease of the record");
			expectSame(await claim(other, "second"), { ok: false, reason: "leased" }, "second claim");
			await world.advance(900);
			const { leaseId } = claimed.lease;
			const renewed = await claim(host, leaseId);
			expectSame(renewed.ok && renewed.lease.attempt, 1, "attempt after renewal");
			await world.advance(900);
			expectSame(await claim(other, "third"), { ok: false, reason: "leased" }, "claim of a renewed lease");
			await world.advance(101);
			const taken = await claim(other, "fourth");
			expectSame(taken.ok && taken.lease.attempt, 2, "attempt after expiry");
			expectSame(await claim(host, leaseId), { ok: false, reason: "leased" }, "late renewal");
			const none = await runs.claim("none", { attempt: 1, leaseId, leaseMs: 1, nowMs: 0 });
			expectSame(none, { ok: false, reason: "not-found" }, "claim of no run");
		},
	},
	{
		title: "a claim uses the given time and attempt",
		async run({ store: { runs } }) {
			await runs.create(run("a"));
			const at = (nowMs: number, leaseId: string, attempt: number) =>
				runs.claim("a", { attempt, leaseId, leaseMs: 1_000, nowMs });
			const first = await at(5_000, "one", 7);
			expectSame(first.ok && [first.lease.attempt, first.lease.leaseUntilMs], [7, 6_000], "lease");
			expectSame((await at(5_999, "two", 8)).ok, false, "claim before its end");
			expectSame((await at(6_000, "two", 8)).ok, true, "claim at its end");
		},
	},
	{
		title: "of concurrent claims, one succeeds",
		async run(host, other) {
			await host.store.runs.create(run("a"));
			const claims = await Promise.all(
				Array.from({ length: 10 }, (_, index) => claim(index % 2 === 0 ? host : other, `lease ${index}`)),
			);
			expectSame(claims.filter(({ ok }) => ok).length, 1, "claims that succeeded");
		},
	},
	{
		title: "a released lease can be claimed at once, and still counts as an attempt",
		async run(host) {
			const { runs } = host.store;
			await runs.create(run("a"));
			const claimed = await claim(host, "first");
			if (!claimed.ok) throw new Error("A free run could not be claimed.");
			const lease = { ...claimed.lease, leaseUntilMs: 0 };
			await runs.update({ ...claimed.record, status: "suspended", lease });
			const again = await claim(host, "second");
			expectSame(again.ok && again.lease.attempt, 2, "attempt");
		},
	},
	{
		title: "an ended run never changes [SES-113]",
		async run(host, other) {
			const { runs } = host.store;
			const record = await runs.create(run("a"));
			const output = { text: "done", parts: [1, null, true] };
			const ended = await runs.update({ ...record, status: "cancelled", output });
			expectSame([ended.status, ended.output], ["cancelled", output], "ended run");
			const late = await other.store.runs.update({ ...record, status: "completed", output: "late" });
			expectSame(late, ended, "late completion");
			expectSame(await claim(other, "late"), { ok: false, reason: "not-claimable" }, "claim of an ended run");
			expectSame(await other.store.runs.get("a"), ended, "the run, unchanged");
		},
	},
	{
		title: "checkpoints are appended in sequence, and a stale version is refused",
		async run({ store: { checkpoints, runs } }, other) {
			await runs.create(run("a"));
			expectSame(await checkpoints.latest("a"), null, "latest of none");
			const first = await checkpoints.append(checkpoint("a", 1), { expectedVersion: 0 });
			expectSame(first, { ok: true, version: 1 }, "first");
			const both = await Promise.all([
				checkpoints.append(checkpoint("a", 2, { phase: "after-model" }), { expectedVersion: 1 }),
				other.store.checkpoints.append(checkpoint("a", 2, { phase: "suspended" }), { expectedVersion: 1 }),
			]);
			expectSame(both.filter(({ ok }) => ok).length, 1, "appends of one version");
			expectSame(
				both.find(({ ok }) => !ok),
				{ ok: false, reason: "stale-version", currentVersion: 2 },
				"the other",
			);
			const waiting = checkpoint("a", 3, { phase: "suspended" });
			await checkpoints.append(waiting, { expectedVersion: 2 });
			const latest = await other.store.checkpoints.latest("a");
			const { checkpointId, runtimeState, sessionSnapshot } = waiting;
			const kept = {
				checkpointId,
				runId: "a",
				version: 3,
				phase: "suspended",
				runtimeState,
				sessionSnapshot,
			};
			expectSame({ ...latest, ...kept }, latest, "latest");
			expectSame((await runs.get("a"))?.checkpointVersion, 3, "version of the run");
			expectSame(
				await checkpoints.append(checkpoint("b", 1), { expectedVersion: 0 }),
				{ ok: true, version: 1 },
				"first of another run",
			);
		},
	},
	{
		title: "events are read in the order they were added, from any cursor",
		async run({ store: { events } }, other) {
			const emitted: AgentEvent[] = Array.from({ length: 12 }, (_, index) => ({
				type: "tool-result",
				toolCallId: `call-${index}`,
				toolName: "t",
				output: { index, bytes: [index], text: "é\u0000✓" },
			}));
			for (const [index, event] of emitted.entries()) {
				expectSame(await events.append("a", event), { offset: index + 1 }, "cursor");
			}
			await events.append("b", { type: "turn-end" });
			const all = emitted.map((event, index) => ({ cursor: { offset: index + 1 }, event, runId: "a" }));
			expectSame(await readAll(other, "a"), all, "all events");
			for (const offset of [0, 1, 9, 12, 40]) {
				const rest = await readAll(other, "a", { offset });
				expectSame(rest, all.slice(offset), `events after ${offset}`);
			}
			expectSame(await readAll(other, "none"), [], "events of no run");
		},
	},
];
