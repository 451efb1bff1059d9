import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as fc from "fast-check";
import { type Host, memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { hosts, temporaryFolder } from "../files/files.fixture.ts";
import { effectsOn, setClock, storeOf, workerOn } from "./effects.fixture.ts";
import type { ThreadEffects } from "./index.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe.each(hosts)("effects on a host in %s", (_, open) => {
	let host: Host;
	let time: ReturnType<typeof setClock>;
	let effects: ThreadEffects;
	beforeEach(() => {
		host = open(temporaryFolder());
		time = setClock();
		effects = effectsOn(host, "thread", time.clock);
	});
	afterEach(() => host.close());

	/** A worker that runs until the test is over. */
	function working(parts: Parameters<typeof workerOn>[1] = {}): ReturnType<typeof workerOn> {
		const made = workerOn(host, { ports: time, ...parts });
		made.worker.start();
		onTestFinished(() => made.worker.stop());
		return made;
	}

	/** Resolves when the worker has seen all that is due. */
	async function settled(): Promise<void> {
		await expect
			.poll(async () => ((await storeOf(host).timers.nextDue()) ?? Infinity) > time.clock.now())
			.toBe(true);
	}

	test("are listed with name, arguments and time while they are pending, by name, and only for their thread [SA-062]", async () => {
		const first = await effects.schedule("count", { n: 1, more: ["a", null] }, 5_000);
		const second = await effects.schedule("other", { n: 2 }, 1_000);
		expect(await effects.pending()).toEqual([
			{
				id: second,
				name: "other",
				args: { n: 2 },
				createdAt: 1_000_000_000,
				scheduledAt: 1_001_000_000,
				status: "pending",
			},
			expect.objectContaining({ id: first, args: { n: 1, more: ["a", null] }, scheduledAt: 1_005_000_000 }),
		]);
		expect((await effects.pending("count")).map(({ id }) => id)).toEqual([first]);
		expect(await effectsOn(host, "another", time.clock).pending()).toEqual([]);
		working();
		time.pass(1_000);
		await expect.poll(async () => (await effects.pending()).map(({ id }) => id)).toEqual([first]);
		await expect
			.poll(async () => (await effects.all()).map(({ status }) => status))
			.toEqual(["completed", "pending"]);
	});

	test("start after `schedule` has returned, and never before their time [SA-063]", async () => {
		const seen: string[] = [];
		working({ run: async ({ args }) => void seen.push(`started ${args.n}`) });
		await effects.schedule("count", { n: 1 });
		seen.push("returned");
		await expect.poll(() => seen).toEqual(["returned", "started 1"]);
		await effects.schedule("count", { n: 2 }, 1_000);
		time.pass(999);
		await settled();
		await turn();
		expect(seen).toHaveLength(2);
		time.pass(1);
		await expect.poll(() => seen).toEqual(["returned", "started 1", "started 2"]);
	});

	test("with unknown names, wrong arguments or delays are rejected, and nothing is scheduled [SA-064]", async () => {
		for (const name of ["none", "toString", ""])
			await expect(effects.schedule(name)).rejects.toMatchObject({ code: "unknown_effect" });
		for (const args of [{}, { n: "1" }, null, [], "x"])
			await expect(effects.schedule("count", args)).rejects.toMatchObject({
				code: "invalid_effect_arguments",
			});
		await expect(effects.schedule("plain", { n: 1 })).rejects.toMatchObject({
			code: "invalid_effect_arguments",
		});
		await expect(effects.schedule("count", { n: 1, more: 1n })).rejects.toMatchObject({
			code: "invalid_effect_arguments",
		});
		for (const delay of [-1, Number.NaN, Number.POSITIVE_INFINITY, "5" as unknown as number])
			await expect(effects.schedule("count", { n: 1 }, delay)).rejects.toMatchObject({
				code: "invalid_effect_delay",
			});
		expect(await effects.all()).toEqual([]);
	});

	test("get the arguments from the time of scheduling [SA-065]", async () => {
		const { ran } = working();
		const args = { n: 1, more: { deep: ["before"] } };
		const scheduling = effects.schedule("count", args, 10);
		args.n = 2;
		args.more.deep.push("after");
		await scheduling;
		args.more.deep[0] = "after";
		time.pass(10);
		await expect.poll(() => ran.map((effect) => effect.args)).toEqual([{ n: 1, more: { deep: ["before"] } }]);
	});

	test("never run after a cancel, and only pending ones can be cancelled [SA-066]", async () => {
		const { ran } = working();
		const cancelled = await effects.schedule("count", { n: 1 }, 100);
		const carriedOut = await effects.schedule("count", { n: 2 }, 100);
		expect(await effects.cancel(cancelled)).toBe(true);
		expect(await effects.cancel(cancelled)).toBe(false);
		expect(await effects.cancel("unknown")).toBe(false);
		expect(await effectsOn(host, "another", time.clock).cancel(carriedOut)).toBe(false);
		time.pass(100);
		await expect.poll(() => ran.map(({ id }) => id)).toEqual([carriedOut]);
		await settled();
		expect(await effects.cancel(carriedOut)).toBe(false);
		expect((await effects.all()).map(({ id, status }) => [id, status])).toEqual(
			expect.arrayContaining([
				[cancelled, "canceled"],
				[carriedOut, "completed"],
			]),
		);
	});

	test("that are running are not listed as pending, and can no longer be cancelled [SA-062] [SA-066]", async () => {
		let end = (): void => {};
		const { ran } = working({
			run: async (effect) => {
				ran.push(effect);
				await new Promise<void>((resolve) => {
					end = resolve;
				});
			},
		});
		const id = await effects.schedule("count", { n: 1 });
		await expect.poll(() => ran.length).toBe(1);
		expect([await effects.cancel(id), await effects.pending()]).toEqual([false, []]);
		end();
		await expect.poll(async () => (await effects.all()).map(({ status }) => status)).toEqual(["completed"]);
	});

	test("that throw are marked as failed, reported, not retried, and delay no others [SA-069]", async () => {
		let calls = 0;
		const { problems } = working({
			run: async ({ args }) => {
				calls++;
				if (args.n === 1) throw new Error("it broke");
			},
			claimMs: 1_000,
		});
		await effects.schedule("count", { n: 1 });
		await effects.schedule("count", { n: 2 }, 10);
		time.pass(10);
		await expect
			.poll(async () => (await effects.all()).map(({ status, error }) => [status, error]))
			.toEqual([
				["failed", "Error: it broke"],
				["completed", undefined],
			]);
		await settled();
		for (let again = 0; again < 3; again++) {
			time.pass(60_000);
			await settled();
		}
		expect([calls, problems]).toEqual([2, [new Error("it broke")]]);
	});

	test("of a terminated or deleted thread do not run [SA-071]", async () => {
		let thread: "active" | "terminated" | "deleted" = "active";
		const { ran } = working({ threadOf: async () => thread });
		const [one, two] = [
			await effects.schedule("count", { n: 1 }, 10),
			await effects.schedule("other", { n: 2 }, 10),
		];
		const another = effectsOn(host, "another", time.clock);
		await another.schedule("count", { n: 3 }, 10);
		await effects.cancelAll();
		expect((await effects.all()).map(({ id, status }) => [id, status]).sort()).toEqual(
			[
				[one, "canceled"],
				[two, "canceled"],
			].sort(),
		);
		time.pass(10);
		await expect.poll(() => ran.map(({ args }) => args.n)).toEqual([3]);
		await effects.schedule("count", { n: 4 }, 10);
		await host.journal.delete("thread");
		await effects.forget();
		expect(await effects.all()).toEqual([]);
		// What a worker had claimed before it is not started either, and leaves nothing.
		for (const state of ["terminated", "deleted"] as const) {
			thread = state;
			await effects.schedule("count", { n: 5 });
			await settled();
			// That of the terminated thread is listed, and that of the deleted one is not.
			await expect.poll(async () => (await effects.all()).map(({ status }) => status)).toEqual(["canceled"]);
		}
		expect(ran.map(({ args }) => args.n)).toEqual([3]);
	});

	test("run on request, once, however often that is requested [SA-207]", async () => {
		const { ran } = working();
		const id = await effects.schedule("count", { n: 1 }, 1_000_000);
		const answers = await Promise.all([effects.runNow(id), effects.runNow(id)]);
		expect(answers).toContain(true);
		await expect.poll(() => ran.map((effect) => effect.id)).toEqual([id]);
		await settled();
		expect(await effects.runNow(id)).toBe(false);
		time.pass(2_000_000);
		await settled();
		expect(ran).toHaveLength(1);
	});
});

test("workers whose claims expire at once still start each effect once [SA-068]", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.integer({ min: 2, max: 4 }),
			fc.integer({ min: 1, max: 30 }),
			async (count, amount) => {
				const host = memoryHost();
				const time = setClock();
				const effects = effectsOn(host, "thread", time.clock);
				for (let n = 0; n < amount; n++) await effects.schedule("count", { n });
				const made = Array.from({ length: count }, () => workerOn(host, { ports: time, claimMs: 0 }));
				for (const { worker } of made) worker.start();
				await expect.poll(() => made.flatMap(({ ran }) => ran).length).toBeGreaterThanOrEqual(amount);
				await Promise.all(made.map(({ worker }) => worker.stop()));
				const numbers = made.flatMap(({ ran }) => ran.map(({ args }) => args.n));
				expect(numbers.sort((one, other) => Number(one) - Number(other))).toEqual(
					Array.from({ length: amount }, (_, n) => n),
				);
				await host.close();
			},
		),
		{ numRuns: 20 },
	);
});

describe("processes", () => {
	/** Starts a process, which is killed when the test is over. */
	function started(path: string, what: string, lines: string[] = []) {
		const script = join(import.meta.dirname, "effect-process.fixture.ts");
		const child = spawn(
			process.execPath,
			["--conditions=holdfast-source", "--no-warnings", script, path, what],
			{
				stdio: ["ignore", "pipe", "inherit"],
			},
		);
		const gone = once(child, "exit");
		createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
		const kill = async (): Promise<void> => {
			child.kill("SIGKILL");
			await gone;
		};
		onTestFinished(kill);
		return { lines, kill };
	}

	function opened(path: string): Host {
		const host = sqliteHost(path);
		onTestFinished(() => host.close());
		return host;
	}

	test("that are killed leave their effects to others, which run each once, including those due in the meantime [SA-067]", async () => {
		const path = join(temporaryFolder(), "effects.db");
		const { lines, kill } = started(path, "schedule");
		await expect.poll(() => lines, { timeout: 60_000 }).toEqual(["scheduled"]);
		await kill();
		const host = opened(path);
		for (let workers = 0; workers < 2; workers++) {
			const { worker, ran } = workerOn(host);
			worker.start();
			const effects = effectsOn(host, "thread");
			await expect
				.poll(async () => (await effects.all()).map(({ status }) => status), { timeout: 60_000 })
				.toEqual(["completed", "completed"]);
			await worker.stop();
			expect(ran.map(({ args }) => args.n).sort()).toEqual(workers === 0 ? [1, 2] : []);
		}
	});

	test("two on one store run each of 100 effects once [SA-068]", async () => {
		const path = join(temporaryFolder(), "effects.db");
		const host = opened(path);
		const effects = effectsOn(host, "thread");
		const both: [string[], string[]] = [[], []];
		for (const lines of both) started(path, "work", lines);
		await Promise.all(Array.from({ length: 100 }, (_, n) => effects.schedule("count", { n })));
		await expect
			.poll(async () => (await effects.all()).filter(({ status }) => status === "completed").length, {
				timeout: 90_000,
			})
			.toBe(100);
		await expect.poll(() => both.flat().length).toBe(100);
		expect(new Set(both.flat()).size).toBe(100);
	});

	test("one that dies during an effect leaves it failed and not started again [SA-068]", async () => {
		const path = join(temporaryFolder(), "effects.db");
		const host = opened(path);
		const effects = effectsOn(host, "thread");
		const { lines, kill } = started(path, "work");
		await storeOf(host).timers.set({
			key: "thread",
			name: "effect stuck",
			wakeAt: 0,
			body: { name: "count", args: { n: "stuck" }, createdAt: 0, dueAt: 0 },
		});
		await expect.poll(() => lines.length, { timeout: 60_000 }).toBe(1);
		await kill();
		const { worker, ran, problems } = workerOn(host);
		worker.start();
		await expect
			.poll(async () => (await effects.all()).map(({ status }) => status), { timeout: 60_000 })
			.toEqual(["failed"]);
		await worker.stop();
		expect([ran, problems]).toEqual([[], [expect.objectContaining({ code: "effect_interrupted" })]]);
	});
});
