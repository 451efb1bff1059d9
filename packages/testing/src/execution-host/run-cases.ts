// Cases about runs, their leases, checkpoints and events.
import type { AgentEvent } from "holdfast";
import { checkpoint, expectSame, run, type WrittenCase } from "./execution-host-world.ts";

export const runCases: readonly WrittenCase[] = [
	{
		title: "a run is created once, whatever is asked later under its id or dedupe key",
		async run({ store: { runs } }, other) {
			const first = await runs.create(run("a", { dedupeKey: "d", parentRunId: "p", ownerNamespace: "n" }));
			expectSame(first.ok && first.run.rootRunId, "p", "root of a run whose parent is not recorded");
			const again = await other.store.runs.create(run("a", { status: "error" }));
			expectSame(again, { ok: false, reason: "exists", run: first.run }, "same id");
			const byKey = await other.store.runs.create(run("b", { dedupeKey: "d" }));
			expectSame(byKey, { ok: false, reason: "exists", run: first.run }, "same dedupe key");
			expectSame(await runs.get("b"), null, "run of the second");
			expectSame(await runs.getByDedupeKey("d"), first.run, "by dedupe key");
			expectSame(await runs.getByDedupeKey("e"), null, "by unknown key");
			expectSame(await other.store.runs.get("a"), first.run, "the run as it is");
		},
	},
	{
		title: "of runs created at once under one dedupe key one is kept",
		async run({ store: { runs } }, other) {
			const made = await Promise.all(
				Array.from({ length: 10 }, (_, index) =>
					(index % 2 === 0 ? runs : other.store.runs).create(run(`r${index}`, { dedupeKey: "d" })),
				),
			);
			expectSame(made.filter(({ ok }) => ok).length, 1, "runs created");
			expectSame(new Set(made.map((each) => each.run.runId)).size, 1, "runs that are kept");
		},
	},
	{
		title: "the runs a run has started are listed in the order they were created",
		async run({ store: { runs } }, other) {
			await runs.create(run("parent"));
			for (const runId of ["z", "a", "m"]) await runs.create(run(runId, { parentRunId: "parent" }));
			await other.store.runs.create(run("grandchild", { parentRunId: "z" }));
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
		title: "a claim keeps others away until it expires, and each new one counts as an attempt",
		async run({ store: { runs } }, other, world) {
			await runs.create(run("a"));
			const claimed = await runs.claim("a", { leaseMs: 1_000 });
			if (!claimed.ok) throw new Error("A free run could not be claimed.");
			expectSame([claimed.run.status, claimed.run.lease.attempt], ["leased", 1], "first claim");
			expectSame(await other.store.runs.claim("a"), { ok: false, reason: "leased" }, "second claim");
			await world.advance(900);
			const { leaseId } = claimed.run.lease;
			const renewed = await runs.claim("a", { leaseMs: 1_000, leaseId });
			expectSame(renewed.ok && renewed.run.lease.attempt, 1, "attempt after renewal");
			await world.advance(900);
			expectSame(
				await other.store.runs.claim("a"),
				{ ok: false, reason: "leased" },
				"claim of a renewed lease",
			);
			await world.advance(101);
			const taken = await other.store.runs.claim("a");
			expectSame(taken.ok && taken.run.lease.attempt, 2, "attempt after expiry");
			expectSame(await runs.claim("a", { leaseId }), { ok: false, reason: "lease-lost" }, "late renewal");
			expectSame(
				await runs.update("a", { status: "completed" }, { leaseId }),
				{ ok: false, reason: "lease-lost" },
				"late update",
			);
			expectSame(await runs.claim("none"), { ok: false, reason: "not-found" }, "claim of no run");
		},
	},
	{
		title: "of claims made at once one succeeds",
		async run({ store: { runs } }, other) {
			await runs.create(run("a"));
			const claims = await Promise.all(
				Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? runs : other.store.runs).claim("a")),
			);
			expectSame(claims.filter(({ ok }) => ok).length, 1, "claims that succeeded");
		},
	},
	{
		title: "a lease that was given up need not be waited for, and still counts",
		async run({ store: { runs } }) {
			await runs.create(run("a"));
			await runs.claim("a");
			await runs.update("a", { status: "suspended", lease: null });
			const claimed = await runs.claim("a");
			expectSame(claimed.ok && claimed.run.lease.attempt, 2, "attempt");
		},
	},
	{
		title: "a run that has ended stays as it is [SES-113]",
		async run({ store: { runs } }, other) {
			await runs.create(run("a"));
			const output = { text: "done", parts: [1, null, true] };
			const ended = await runs.update("a", { status: "cancelled", output });
			if (!ended.ok) throw new Error("A run could not be ended.");
			expectSame([ended.run.status, ended.run.output], ["cancelled", output], "ended run");
			const late = await other.store.runs.update("a", { status: "completed", output: "late" });
			expectSame(late, { ok: false, reason: "final" }, "late completion");
			expectSame(await other.store.runs.claim("a"), { ok: false, reason: "final" }, "claim of an ended run");
			expectSame(await other.store.runs.get("a"), ended.run, "the run as it is");
			expectSame(await runs.update("none", {}), { ok: false, reason: "not-found" }, "update of no run");
		},
	},
	{
		title: "checkpoints follow one upon the other, and a stale version is refused",
		async run({ store: { checkpoints, runs } }, other) {
			await runs.create(run("a"));
			expectSame(await checkpoints.latest("a"), null, "latest of none");
			const first = await checkpoints.append(checkpoint("a"), { expectedVersion: 0 });
			expectSame(first, { ok: true, version: 1 }, "first");
			const both = await Promise.all([
				checkpoints.append(checkpoint("a", { phase: "after-model" }), { expectedVersion: 1 }),
				other.store.checkpoints.append(checkpoint("a", { phase: "suspended" }), { expectedVersion: 1 }),
			]);
			expectSame(both.filter(({ ok }) => ok).length, 1, "appends of one version");
			expectSame(
				both.find(({ ok }) => !ok),
				{ ok: false, reason: "stale-version" },
				"the other",
			);
			const waiting = checkpoint("a", { phase: "suspended", seq: 7, waitsFor: ["call-1"] });
			await checkpoints.append(waiting, { expectedVersion: 2 });
			expectSame(await other.store.checkpoints.latest("a"), { ...waiting, version: 3 }, "latest");
			expectSame((await runs.get("a"))?.checkpointVersion, 3, "version of the run");
			expectSame(
				await checkpoints.append(checkpoint("b"), { expectedVersion: 0 }),
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
			const all = emitted.map((event, index) => ({ offset: index + 1, event }));
			expectSame(await other.store.events.read("a"), all, "all events");
			for (const offset of [0, 1, 9, 12, 40]) {
				const rest = await other.store.events.read("a", { offset });
				expectSame(rest, all.slice(offset), `events after ${offset}`);
			}
			expectSame(await events.read("none"), [], "events of no run");
		},
	},
];
