// Two workers on one file, and what one of them had claimed and not begun: it is the other's as soon as the claimer is
// dead, no earlier, and once.
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { factsOf } from "./comparison.fixture.ts";
import { slowness } from "./slowness.fixture.ts";
import { type Ended, makeWorld, named, type WorkerProcess, type World } from "./world.fixture.ts";

/** Milliseconds after which a process that does not move counts as dead. */
const leaseTtlMs = 600;
/** From the claim to the first commit of its run. */
const moments = ["input 1 before", "input 1 after", "append 1 before", "append 2 before"];

let world: World;
beforeEach(async () => {
	world = await makeWorld();
});
afterEach(() => world.end());

const work = { whatever: true } as const;
const worker = (options: Partial<Parameters<World["start"]>[0]> = {}): WorkerProcess =>
	world.start({ work, ...options }, "works");

/** Has the session "s" notified by whichever worker comes first. */
async function schedule(): Promise<void> {
	const host = sqliteHost(world.path);
	const notification = {
		notificationId: "parcel",
		idempotencyKey: "parcel",
		runId: "notify",
		sessionKey: "s",
	};
	await host.store.notifications.enqueue({ ...notification, input: "It came." });
	await host.scheduler.resumeSession("s", notification);
	await host.close();
}

/** The states of the notification and its run. */
async function states() {
	const host = sqliteHost(world.path);
	try {
		const run = await host.store.runs.get("notify");
		const notification = await host.store.notifications.getByIdempotencyKey("parcel");
		return { run: run?.status, attempt: run?.lease?.attempt, notification: notification?.status };
	} finally {
		await host.close();
	}
}

/** Whether somebody else can have the notification now; nothing is taken. */
async function isFree(): Promise<boolean> {
	const host = sqliteHost(world.path);
	try {
		let free = false;
		const taken = host.store.transaction(async ({ notifications }) => {
			free = (await notifications.claimByIdempotencyKey("parcel")).ok;
			throw new Error("only looked");
		});
		await expect(taken).rejects.toThrow("only looked");
		return free;
	} finally {
		await host.close();
	}
}

const asked = (...ended: readonly Ended[]): readonly unknown[] =>
	ended.flatMap((each) => named(each, "worker asked").map(({ text }) => text));

async function expectNotifiedOnce(): Promise<void> {
	const entries = await world.entries();
	expect(factsOf(entries, "input")).toHaveLength(1);
	expect(factsOf(entries, "run.started")).toMatchObject([{ runKind: "notification" }]);
	expect(factsOf(entries, "run.ended")).toMatchObject([{ outcome: "completed" }]);
	expect(await states()).toMatchObject({ run: "completed", notification: "acked" });
}

describe.skipIf(process.platform !== "linux")(
	"a notification that its worker has claimed but not started",
	() => {
		test.for(moments)(
			"is delivered by another in under two seconds if that one is killed, at %s",
			async (stopAt) => {
				await schedule();
				const first = worker({ stopAt });
				await first.reached(stopAt);
				const second = worker();
				await second.reached("ready");
				// It is paused, and lives: what it has claimed is its own.
				expect(await isFree()).toBe(false);
				first.child.kill("SIGKILL");
				const killedAt = performance.now();
				await second.reached("result");
				const took = performance.now() - killedAt;
				console.log(`killed at ${stopAt}: delivered by the other after ${Math.round(took)} ms`);
				expect(took).toBeLessThan(2_000 * slowness());
				second.say("end");
				const ended = await second.ended;
				expect(named(ended, "result")).toMatchObject([{ outcome: "completed", text: "re: It came." }]);
				expect(asked(await first.ended, ended)).toEqual(["It came."]);
				await expectNotifiedOnce();
			},
		);

		test.for(moments)(
			"is delivered by another if that one was paused for its lease's time; it continues and does nothing, at %s",
			async (stopAt) => {
				await schedule();
				const host = { leaseTtlMs };
				const zombie = worker({ host, stopAt });
				await zombie.reached(stopAt);
				const second = worker({ host });
				await second.reached("result");
				second.say("end");
				const ended = await second.ended;
				const before = await world.entries();
				zombie.child.kill("SIGCONT");
				zombie.say("end");
				const woken = await zombie.ended;
				expect(woken.code).toBe(0);
				expect(named(woken, "failed")).toEqual([]);
				// All that it may have written is the session with nothing in it, before it was paused.
				expect(named(woken, "append 1 after").filter(({ seq }) => seq !== 0)).toEqual([]);
				expect(named(woken, "append 2 after")).toEqual([]);
				expect(asked(woken, ended)).toEqual(["It came."]);
				expect(await world.entries()).toEqual(before);
				await expectNotifiedOnce();
			},
		);

		test("is claimed by one of many if that one is dead", async () => {
			await schedule();
			const first = worker({ stopAt: "input 1 before" });
			await first.reached("input 1 before");
			const others = [worker(), worker(), worker()];
			await Promise.all(others.map((each) => each.reached("ready")));
			first.child.kill("SIGKILL");
			await Promise.race(others.map((each) => each.reached("result")));
			for (const each of others) each.say("end");
			const ended = await Promise.all(others.map((each) => each.ended));
			expect(asked(...ended)).toEqual(["It came."]);
			await expectNotifiedOnce();
		});
	},
);

describe("background work that was accepted but not started", () => {
	test.for(["input 1 after", "append 3 before"])(
		"is started by another in under two seconds if its process is killed, at %s",
		async (stopAt) => {
			const first = world.start({ work: { send: ["later: dig"] }, stopAt }, "works");
			await first.reached(stopAt);
			const second = worker();
			await second.reached("ready");
			first.child.kill("SIGKILL");
			const killedAt = performance.now();
			await second.reached("helper asked");
			const took = performance.now() - killedAt;
			console.log(`killed at ${stopAt}: begun by the other after ${Math.round(took)} ms`);
			expect(took).toBeLessThan(2_000 * slowness());
			await second.reached("worker asked");
			second.say("end");
			const all = [await first.ended, await second.ended];
			expect(all.flatMap((each) => named(each, "helper asked"))).toMatchObject([{ text: "dig" }]);
		},
	);
});

describe("background work that ended but was not reported", () => {
	test("is delivered by another in under two seconds if its process is killed", async () => {
		const second = worker();
		await second.reached("ready"); // and looks for what was left unreported, before there is any
		// The last commit of the helper's run, when the run that asked for it is over: nothing is open any more.
		const killAt = "append 6 after";
		const first = world.start({ work: { send: ["later: dig at last"] }, killAt }, "works");
		const { signal } = await first.ended;
		const killedAt = performance.now();
		const { text } = await second.reached("worker asked");
		const took = performance.now() - killedAt;
		console.log(`delivered by the other after ${Math.round(took)} ms`);
		expect([signal, text]).toEqual(["SIGKILL", expect.stringContaining("<system-reminder>")]);
		expect(took).toBeLessThan(2_000 * slowness());
		second.say("end");
		expect(named(await second.ended, "worker asked")).toHaveLength(1);
	});
});
