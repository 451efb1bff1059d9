// Timers: due at a time, claimed by one worker at a time, and kept until they are settled.

import { storeKeyOf } from "holdfast/execute";
import type { ClaimedTimer, TimerStore } from "holdfast/host";
import { eventually, same } from "../journal/index.ts";
import type { PortCase } from "./port-case.ts";

async function claimed(
	timers: TimerStore,
	now: number,
	limit = 100,
	leaseMs = 1_000,
): Promise<readonly ClaimedTimer[]> {
	return await timers.claim({ now, limit, leaseMs });
}

const names = (timers: readonly { readonly name: string }[]): string => timers.map(({ name }) => name).join();

export const timersCases: readonly PortCase[] = [
	{
		title: "due timers are claimed with their data, in the order in which they are due",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			same(await two.timers.nextDue(), undefined, "the next of none");
			await one.timers.set({ key: "s", name: "late", wakeAt: 3_000 });
			await one.timers.set({ key: "t", name: "early", wakeAt: 1_000, body: { for: ["t", null] } });
			await two.timers.set({ key: "s", name: "middle", wakeAt: 2_000, body: 0 });
			same(await two.timers.nextDue(), 1_000, "the next one");
			same(await claimed(two.timers, 999), [], "before its time");
			same(names(await claimed(two.timers, 2_500, 1)), "early", "at most one");
			const [middle] = await claimed(one.timers, 2_500);
			const { incarnation } = (await one.journal.head("s")) ?? {};
			const { key, name, wakeAt, body, attempt } = middle as ClaimedTimer;
			same([key, name, wakeAt, body, attempt], ["s", "middle", 2_000, 0, 1], "what was claimed");
			same(middle?.incarnation, incarnation, "whose it is");
			same(await one.timers.nextDue(), 3_000, "the next one then");
			same(names(await claimed(two.timers, 3_000)), "late", "the last one");
		},
	},
	{
		title: "a claimed timer is reserved for a while, due again if it is not settled, and removed once it is",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			await one.timers.set({ key: "s", name: "t", wakeAt: 1_000 });
			const [first] = await claimed(one.timers, 1_000);
			same(await claimed(two.timers, 1_999), [], "while it is claimed");
			same(await two.timers.nextDue(), 2_000, "when it is due again");
			const [second] = await claimed(two.timers, 2_000);
			same(second?.attempt, 2, "the second attempt");
			same(await one.timers.settle(first as ClaimedTimer), false, "settling under a void claim");
			same(await two.timers.settle(second as ClaimedTimer), true, "settling");
			same(await two.timers.settle(second as ClaimedTimer), false, "settling again");
			same([await one.timers.nextDue(), await one.timers.list("s")], [undefined, []], "what is left");
			same(await claimed(one.timers, 9_000), [], "what is due");
		},
	},
	{
		title: "setting a timer again replaces it and voids its claim; cancelling removes it",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			await one.timers.set({ key: "s", name: "t", wakeAt: 1_000, body: "old" });
			const [first] = await claimed(one.timers, 1_000);
			await two.timers.set({ key: "s", name: "t", wakeAt: 5_000, body: "new" });
			same(await one.timers.settle(first as ClaimedTimer), false, "settling a timer that was set again");
			same(await one.timers.list("s"), [{ key: "s", name: "t", wakeAt: 5_000, body: "new" }], "the timers");
			same(await one.timers.nextDue(), 5_000, "the next one");
			const [second] = await claimed(one.timers, 5_000);
			same(second?.attempt, 1, "its first attempt");
			same(
				[await two.timers.cancel("s", "t"), await two.timers.cancel("s", "t")],
				[true, false],
				"cancelling",
			);
			same(await one.timers.settle(second as ClaimedTimer), false, "settling a cancelled timer");
		},
	},
	{
		title: "of many concurrent claims, each timer is claimed once, and all are claimed",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			for (let at = 0; at < 50; at++) await one.timers.set({ key: `s${at % 7}`, name: `t${at}`, wakeAt: at });
			const claims = await Promise.all(
				Array.from({ length: 20 }, (_, at) => claimed((at % 2 === 0 ? one : two).timers, 100, 5)),
			);
			const all = claims.flat().map(({ name }) => name);
			same([all.length, new Set(all).size], [50, 50], "timers and different ones");
		},
	},
	{
		title: "a claim of one namespace's timers does not affect other timers",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			const places = ["plain", storeKeyOf("a", "s"), storeKeyOf("ab", "s"), storeKeyOf("a", "t"), "ns"];
			for (const [at, key] of places.entries()) await one.timers.set({ key, name: `t${at}`, wakeAt: at });
			await one.timers.set({ key: "plain", name: "late", wakeAt: 5_000 });
			const of = async (namespace: string | null, limit = 100): Promise<string> =>
				names(await two.timers.claim({ now: 10, leaseMs: 100, limit, namespace }));
			same(await of("a", 1), "t1", "one of a namespace");
			same(await of("none"), "", "those of an unknown one");
			same(await of("a"), "t3", "the others of it");
			same(await one.timers.nextDue(), 0, "the next one");
			same(await one.timers.nextDue({ after: 10 }), 110, "the next one after those that are due");
			same(await of(null), "t0,t4", "those of none");
			same(names(await claimed(one.timers, 10)), "t2", "those of whatever namespace");
			same(await one.timers.nextDue({ after: 1_010 }), 5_000, "the last one");
			same(await one.timers.nextDue({ after: 5_000 }), undefined, "after the last one");
		},
	},
	{
		title: "timers are deleted with their session, and a recreated session has none",
		async run(world) {
			const { journal, timers } = await world.host();
			await timers.set({ key: "s", name: "t", wakeAt: 1_000 });
			await timers.set({ key: "other", name: "t", wakeAt: 2_000 });
			const [first] = await claimed(timers, 1_000);
			await journal.delete("s");
			same(await timers.nextDue(), 2_000, "the next one");
			await timers.set({ key: "s", name: "t", wakeAt: 9_000 });
			same(await timers.settle(first as ClaimedTimer), false, "settling that of the session before");
			same(await timers.list("s"), [{ key: "s", name: "t", wakeAt: 9_000 }], "the timers of the new one");
		},
	},
	{
		title: "a watcher of the next timer is notified of an earlier one, set by any worker",
		async run(world) {
			const [one, two] = [await world.host(), await world.host()];
			await one.timers.set({ key: "s", name: "late", wakeAt: 9_000 });
			let next: number | undefined;
			const stop = one.timers.watch(async () => {
				next = await one.timers.nextDue();
			});
			await two.timers.set({ key: "s", name: "early", wakeAt: 1_000 });
			await eventually("the earlier one is known", () => next === 1_000);
			stop();
		},
	},
];
