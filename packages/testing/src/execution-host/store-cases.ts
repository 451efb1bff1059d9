// Cases about notifications and transactions.
import { checkpoint, expectSame, notification, run, type WrittenCase } from "./execution-host-world.ts";

export const storeCases: readonly WrittenCase[] = [
	{
		title: "a notification is recorded once, with a run that delivers it",
		async run({ store: { notifications, runs } }, other) {
			const first = await notifications.enqueue(notification("a"));
			expectSame(first, { ...notification("a"), status: "pending" }, "notification");
			const again = await other.store.notifications.enqueue({ ...notification("a"), notificationId: "b" });
			expectSame(again, first, "the same key again");
			expectSame(await other.store.notifications.getByIdempotencyKey("key a"), first, "by its key");
			expectSame(await notifications.getByIdempotencyKey("none"), null, "by no key");
			const run = await runs.getByDedupeKey("key a");
			expectSame([run?.runId, run?.kind, run?.status], ["run a", "notification", "queued"], "its run");
		},
	},
	{
		title: "a notification is claimed by one at a time, and by none once it is acknowledged",
		async run({ store: { notifications } }, other, world) {
			await notifications.enqueue(notification("a"));
			const claims = await Promise.all(
				Array.from({ length: 10 }, (_, index) =>
					(index % 2 === 0 ? notifications : other.store.notifications).claimByIdempotencyKey("key a", {
						leaseMs: 1_000,
						leaseId: `lease ${index}`,
					}),
				),
			);
			const claimed = claims.flatMap((claim) => (claim.ok ? [claim.notification] : []));
			expectSame(claimed.length, 1, "claims that succeeded");
			expectSame(
				claims.find(({ ok }) => !ok),
				{ ok: false, reason: "already-claimed" },
				"the others",
			);
			const leaseId = claimed[0]?.lease?.leaseId ?? "";
			expectSame(
				await notifications.releaseByIdempotencyKey("key a", { leaseId: "none" }),
				false,
				"foreign release",
			);
			expectSame(await notifications.releaseByIdempotencyKey("key a", { leaseId }), true, "release");
			const second = await other.store.notifications.claimByIdempotencyKey("key a", { leaseMs: 1_000 });
			expectSame(second.ok, true, "claim after release");
			await world.advance(1_001);
			const third = await notifications.claimByIdempotencyKey("key a", { leaseId: "third" });
			expectSame(third.ok, true, "claim after expiry");
			expectSame(await notifications.acknowledge("key a", { leaseId }), false, "foreign acknowledgement");
			expectSame(await notifications.acknowledge("key a", { leaseId: "third" }), true, "acknowledgement");
			await world.advance(100_000);
			const late = await other.store.notifications.claimByIdempotencyKey("key a");
			expectSame(late, { ok: false, reason: "already-claimed" }, "claim of what was acknowledged");
			expectSame(await notifications.releaseByIdempotencyKey("key a"), false, "release of it");
			expectSame(
				await notifications.claimByIdempotencyKey("none"),
				{ ok: false, reason: "not-found" },
				"claim of nothing",
			);
		},
	},
	{
		title: "a transaction sees its own writes, and what it throws leaves everything as before [SES-093]",
		async run({ store }, other) {
			await store.runs.create(run("a", { dedupeKey: "d" }));
			await store.checkpoints.append(checkpoint("a"), { expectedVersion: 0 });
			await store.events.append("a", { type: "turn-start" });
			await store.notifications.enqueue(notification("a"));
			await store.sessions.commit("s", { state: 1 }, { expectedVersion: null });
			const look = async (): Promise<unknown> => [
				await other.store.runs.get("a"),
				await other.store.runs.get("b"),
				await other.store.runs.listByParentRunId("a"),
				await other.store.checkpoints.latest("a"),
				await other.store.events.read("a"),
				await other.store.notifications.getByIdempotencyKey("key a"),
				await other.store.notifications.getByIdempotencyKey("key b"),
				await other.store.sessions.load("s"),
				await other.store.sessions.load("t"),
			];
			const before = await look();
			const failed = store.transaction(async (inside) => {
				await inside.runs.update("a", { status: "completed" });
				await inside.runs.create(run("b", { parentRunId: "a" }));
				await inside.checkpoints.append(checkpoint("a"), { expectedVersion: 1 });
				await inside.events.append("a", { type: "turn-end" });
				await inside.notifications.claimByIdempotencyKey("key a");
				await inside.notifications.enqueue(notification("b"));
				const { version } = (await inside.sessions.load("s")) ?? { version: null };
				await inside.sessions.commit("s", { state: 2 }, { expectedVersion: version });
				await inside.sessions.commit("t", { state: 2 }, { expectedVersion: null });
				expectSame((await inside.runs.get("a"))?.status, "completed", "run inside");
				const children = await inside.runs.listByParentRunId("a");
				expectSame(
					children.map(({ runId }) => runId),
					["b"],
					"children inside",
				);
				expectSame((await inside.checkpoints.latest("a"))?.version, 2, "checkpoint inside");
				expectSame((await inside.events.read("a", { offset: 1 })).length, 1, "events inside");
				const claimed = await inside.notifications.getByIdempotencyKey("key a");
				expectSame(claimed?.status, "claimed", "notification inside");
				expectSame((await inside.sessions.load("s"))?.state, 2, "session inside");
				throw new Error("enough");
			});
			const error = await failed.then(
				() => undefined,
				(thrown: unknown) => (thrown as Error).message,
			);
			expectSame(error, "enough", "what the transaction rejects with");
			expectSame(await look(), before, "the store afterwards");
		},
	},
	{
		title: "a transaction commits all it wrote, and concurrent ones do not overwrite each other",
		async run({ store }, other) {
			const count = async (host: typeof other): Promise<void> => {
				await host.store.transaction(async ({ sessions, events }) => {
					const stored = await sessions.load("count");
					const next = ((stored?.state as number | undefined) ?? 0) + 1;
					await sessions.commit("count", { state: next }, { expectedVersion: stored?.version ?? null });
					await events.append("a", { type: "assistant-text", text: String(next) });
				});
			};
			await Promise.all(
				Array.from({ length: 10 }, (_, index) => count(index % 2 === 0 ? { ...other, store } : other)),
			);
			expectSame((await store.sessions.load("count"))?.state, 10, "count");
			const texts = (await other.store.events.read("a")).map(({ event }) =>
				event.type === "assistant-text" ? event.text : "",
			);
			expectSame(texts, ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"], "events");
		},
	},
];
