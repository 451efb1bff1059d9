// Cases about notifications and transactions.
import {
	checkpoint,
	expectSame,
	notification,
	readAll,
	run,
	type WrittenCase,
} from "./execution-host-world.ts";

export const storeCases: readonly WrittenCase[] = [
	{
		title: "a notification is recorded once for each key",
		async run({ store: { notifications } }, other) {
			const first = {
				...notification("a"),
				ownerNamespace: "n",
				observerEvents: [{ type: "turn-end" as const }],
			};
			expectSame(await notifications.enqueue(first), { ok: true }, "notification");
			const again = await other.store.notifications.enqueue({ ...notification("a"), notificationId: "b" });
			const duplicate = { ok: false, reason: "duplicate", existingNotificationId: "a" };
			expectSame(again, duplicate, "the same key again");
			expectSame(await other.store.notifications.getByIdempotencyKey("key a"), first, "by its key");
			expectSame(await notifications.getByIdempotencyKey("none"), null, "by no key");
		},
	},
	{
		title: "a notification is claimed by one worker, and by another after its release",
		async run({ store: { notifications } }, other) {
			await notifications.enqueue(notification("a"));
			const claims = await Promise.all(
				Array.from({ length: 10 }, (_, index) =>
					(index % 2 === 0 ? notifications : other.store.notifications).claimByIdempotencyKey("key a"),
				),
			);
			const claimed = claims.flatMap((each) => (each.ok ? [each.record] : []));
			expectSame(
				claimed.map(({ input }) => input),
				[notification("a").input],
				"claims that succeeded",
			);
			const reasons = claims.flatMap((each) => (each.ok ? [] : [each.reason]));
			expectSame(new Set(reasons).size, 1, "reasons of the others");
			expectSame(reasons[0], "already-claimed", "the others");
			await notifications.releaseByIdempotencyKey("key a");
			const second = await other.store.notifications.claimByIdempotencyKey("key a");
			expectSame(second.ok, true, "claim after release");
			const none = await notifications.claimByIdempotencyKey("none");
			expectSame([none.ok, !none.ok && none.reason], [false, "not-found"], "claim of nothing");
		},
	},
	{
		title: "if notifications are acknowledged, a claim expires, and an acknowledged one cannot be claimed",
		async run({ store: { notifications } }, other, world) {
			// A host with permanent claims has nothing to acknowledge.
			const acknowledge = notifications.acknowledge?.bind(notifications);
			if (acknowledge === undefined) return;
			await notifications.enqueue(notification("a"));
			const first = await notifications.claimByIdempotencyKey("key a", { leaseMs: 1_000, leaseId: "first" });
			expectSame(first.ok && first.record.lease?.leaseId, "first", "first claim");
			await notifications.releaseByIdempotencyKey("key a", { leaseId: "none" });
			const early = await notifications.claimByIdempotencyKey("key a");
			expectSame(early.ok, false, "claim after a foreign release");
			await world.advance(1_001);
			const second = await other.store.notifications.claimByIdempotencyKey("key a", { leaseId: "second" });
			expectSame(second.ok, true, "claim after expiry");
			expectSame(await acknowledge("key a", { leaseId: "first" }), false, "foreign acknowledgement");
			expectSame(await acknowledge("key a", { leaseId: "second" }), true, "acknowledgement");
			await world.advance(100_000);
			const late = await other.store.notifications.claimByIdempotencyKey("key a");
			expectSame([late.ok, late.record?.status], [false, "acked"], "claim of an acknowledged notification");
			await notifications.releaseByIdempotencyKey("key a");
			const released = await notifications.getByIdempotencyKey("key a");
			expectSame(released?.status, "acked", "release of an acknowledged notification");
		},
	},
	{
		title: "notifications for a session are deleted with it, and others are not",
		async run({ store }, other) {
			const { notifications, runs } = other.store;
			if (notifications.deleteByIncarnation === undefined) return;
			const given = { gone: "one", also: "one", stays: "two", any: undefined };
			for (const [name, incarnation] of Object.entries(given))
				await store.notifications.enqueue({
					...notification(name),
					...(incarnation === undefined ? {} : { incarnation }),
				});
			await store.notifications.claimByIdempotencyKey("key also");
			await notifications.deleteByIncarnation("one");
			const found = await Promise.all(
				Object.keys(given).map(async (name) => [
					(await store.notifications.getByIdempotencyKey(`key ${name}`))?.status ?? null,
					(await runs.get(`run ${name}`))?.status,
				]),
			);
			const wanted = [
				[null, "cancelled"],
				[null, "cancelled"],
				["pending", "queued"],
				["pending", "queued"],
			];
			expectSame(found, wanted, "notifications and their runs");
			expectSame(await store.notifications.enqueue(notification("gone")), { ok: true }, "the same key anew");
		},
	},
	{
		title: "a transaction sees its own writes, and if it throws, nothing changes [SES-093]",
		async run({ store }, other) {
			const record = await store.runs.create(run("a", { dedupeKey: "d" }));
			await store.checkpoints.append(checkpoint("a", 1), { expectedVersion: 0 });
			await store.events.append("a", { type: "turn-start" });
			await store.notifications.enqueue(notification("a"));
			await store.sessions.commit("s", { state: 1 }, { expectedVersion: null });
			const look = async (): Promise<unknown> => [
				await other.store.runs.get("a"),
				await other.store.runs.get("b"),
				await other.store.runs.listByParentRunId("a"),
				await other.store.checkpoints.latest("a"),
				await readAll(other, "a"),
				await other.store.notifications.getByIdempotencyKey("key a"),
				await other.store.notifications.getByIdempotencyKey("key b"),
				await other.store.sessions.load("s"),
				await other.store.sessions.load("t"),
			];
			const before = await look();
			const failed = store.transaction(async (inside) => {
				await inside.runs.update({ ...record, checkpointVersion: 1, status: "completed" });
				await inside.runs.create(run("b", { parentRunId: "a" }));
				await inside.checkpoints.append(checkpoint("a", 2), { expectedVersion: 1 });
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
				expectSame(
					(await readAll({ store: inside as never }, "a", { offset: 1 })).length,
					1,
					"events inside",
				);
				const claimed = await inside.notifications.claimByIdempotencyKey("key a");
				expectSame(claimed.ok, false, "second claim of a notification inside");
				expectSame((await inside.sessions.load("s"))?.state, 2, "session inside");
				throw new Error("enough");
			});
			const error = await failed.then(
				() => undefined,
				(thrown: unknown) => (thrown as Error).message,
			);
			expectSame(error, "enough", "the error of the transaction");
			expectSame(await look(), before, "the store afterwards");
		},
	},
	{
		title: "a transaction commits all its writes, and concurrent ones do not overwrite each other",
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
			const texts = (await readAll(other, "a")).map(({ event }) =>
				event.type === "assistant-text" ? event.text : "",
			);
			expectSame(texts, ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"], "events");
		},
	},
];
