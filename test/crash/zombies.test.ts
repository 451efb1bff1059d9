// Workers that stop moving, are overtaken, and wake up: at every commit and in every call. Their sessions are in other
// hands then; nothing they do counts, and they begin nothing. And workers that die: others continue with what they had.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { sqliteJournal } from "holdfast/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Plan } from "./planned-model.fixture.ts";
import { slowness } from "./slowness.fixture.ts";
import { makeWorld, named, pool, type WorkerProcess, type World } from "./world.fixture.ts";

/** Milliseconds after which a process that does not move counts as dead. */
const host = { leaseTtlMs: 600 };

let world: World;
beforeEach(async () => {
	world = await makeWorld();
});
afterEach(() => world.end());

const planned = (task: string, rounds: Plan["rounds"]): string => JSON.stringify({ task, rounds });

async function until(what: () => boolean | Promise<boolean>, atMost = 30_000): Promise<void> {
	const endsAt = performance.now() + atMost;
	while (!(await what())) {
		if (performance.now() > endsAt) throw new Error(`It did not come to pass in ${atMost} ms.`);
		await pause(20);
	}
}

/** Whether the process is paused. */
function isStopped({ child }: WorkerProcess): boolean {
	const stat = readFileSync(`/proc/${child.pid}/stat`, "utf8");
	return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
}

/** The state of a session: its epoch, its entries, whether its run is over. */
async function stateOf(session: string): Promise<{ epoch: number; seq: number; isOver: boolean }> {
	const journal = sqliteJournal({ path: world.path });
	try {
		const head = await journal.head(session);
		if (head === undefined) return { epoch: 0, seq: 0, isOver: false };
		return { epoch: head.epoch, seq: head.seq, isOver: head.openRunId === undefined };
	} finally {
		await journal.close();
	}
}

describe.skipIf(process.platform !== "linux")(
	"a worker that continues after others took over its session",
	() => {
		const appends = Array.from({ length: 7 }, (_, index) => index + 2);
		const moments = [
			...appends.flatMap((number) => [`append ${number} before`, `append ${number} after`]),
			"model 2 asked",
			"model 2 half said",
			"lookup a entered",
			"post b entered",
			"post b effected",
		];

		test("starts nothing else and commits nothing, regardless of what it was doing when it stopped [SES-101]", async () => {
			const twoAtOnce = pool(2);
			const zombies = await Promise.all(
				moments.map((stopAt, index) =>
					twoAtOnce(async () => {
						const session = `s${index}`;
						const work = { send: [planned(`task${index}`, [["lookup:a"], ["post:b"], ["lookup:c"]])] };
						const zombie = world.start({ host, session, stopAt, work });
						await zombie.reached(stopAt);
						await until(() => isStopped(zombie));
						return { zombie, session, stopAt, before: await stateOf(session) };
					}),
				),
			);
			const second = world.start({ host, work: { whatever: true } });
			const after = new Map<string, Awaited<ReturnType<typeof stateOf>>>();
			for (const { session, before } of zombies) {
				await until(async () => (await stateOf(session)).isOver);
				const state = await stateOf(session);
				after.set(session, state);
				if (before.isOver) continue; // it stopped after its last commit
				expect(state.epoch).toBeGreaterThan(before.epoch);
			}
			const [asked, keys] = [world.requests().length, new Set(world.received().keys())];
			for (const { zombie } of zombies) zombie.child.kill("SIGCONT");
			for (const { zombie, session, stopAt, before } of zombies) {
				const { code, moments: reported } = await zombie.ended;
				const woken = reported.slice(reported.findIndex(({ moment }) => moment === stopAt) + 1);
				const begun = woken
					.map(({ moment }) => moment)
					.filter((moment) => /asked|entered|after$/.test(moment));
				expect([stopAt, begun]).toEqual([stopAt, []]);
				expect([stopAt, code]).toEqual([stopAt, 0]);
				const result = before.isOver
					? { outcome: "completed" }
					: { outcome: "suspended", error: "lease_lost" };
				expect(woken.filter(({ moment }) => moment === "result")).toMatchObject([result]);
				expect(await stateOf(session)).toEqual(after.get(session));
			}
			expect(world.requests()).toHaveLength(asked);
			// The call it was in may have had its effect: once for who counts keys.
			expect(new Set(world.received().keys())).toEqual(keys);
			expect(keys.size).toBe(moments.length);
			second.say("end");
			expect((await second.ended).code).toBe(0);
		});
	},
);

describe("two workers", () => {
	test("share the work of a dead process, and do none of it twice", async () => {
		const sessions = Array.from({ length: 8 }, (_, index) => `s${index}`);
		const twoAtOnce = pool(2);
		await Promise.all(
			sessions.map((session, index) =>
				twoAtOnce(async () => {
					const work = { send: [planned(`task${index}`, [["post:a"], ["post:b"]])] };
					await world.run({ session, killAt: "append 2 before", work });
				}),
			),
		);
		const workers = [1, 2].map(() => world.start({ work: { whatever: true } }));
		await until(async () => {
			const all = await Promise.all(sessions.map(stateOf));
			return all.every(({ isOver }) => isOver);
		});
		for (const each of workers) each.say("end");
		const ended = await Promise.all(workers.map((each) => each.ended));
		const taken = ended.flatMap((each) => named(each, "resumed").map(({ session }) => session));
		expect(taken.toSorted()).toEqual(sessions);
		expect([...world.received().values()]).toEqual(Array(2 * sessions.length).fill(1));
	});

	test("continue when one of them dies: the other continues in under two seconds", async () => {
		const send = [planned("one", [["wait:a"], ["wait:b"]])];
		const sender = world.start({ work: { send } });
		await sender.reached("wait a entered");
		sender.child.kill("SIGKILL");
		const first = world.start({ work: { whatever: true } });
		await first.reached("wait b entered");
		const second = world.start({ work: { whatever: true } });
		await second.reached("ready");
		await pause(0);
		first.child.kill("SIGKILL");
		const killedAt = performance.now();
		await second.reached("append 1 after");
		const took = performance.now() - killedAt;
		console.log(`the other worker continued after ${Math.round(took)} ms`);
		expect(took).toBeLessThan(2_000 * slowness());
		await second.reached("result");
		second.say("end");
		expect(named(await second.ended, "result")).toMatchObject([
			{ outcome: "completed", text: "one is done: fact of a, fact of b." },
		]);
	});
});
