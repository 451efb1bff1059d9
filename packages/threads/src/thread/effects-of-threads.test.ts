// Effects as tools and hooks schedule them, and threads carry them out.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineEffect, defineTool } from "../define/index.ts";
import { temporaryFolder } from "../files/files.fixture.ts";
import type { EffectDefinition, ThreadState, ToolDefinition } from "../types/index.ts";
import { oneAgent, said, say, scripted, start } from "./threads.fixture.ts";
import type { Threads } from "./threads.ts";

/** An effect that calls the function it is given. */
function effect(run: (state: ThreadState, n: number) => unknown): EffectDefinition {
	return defineEffect("Runs.", z.object({ n: z.number() }), (state, { n }) => run(state as ThreadState, n));
}

const schedule: ToolDefinition = defineTool({
	description: "Schedules.",
	args: z.object({ n: z.number() }),
	async execute(state, { n }) {
		return { status: "success", result: `scheduled ${typeof (await state.scheduleEffect("later", { n }))}` };
	},
}) as ToolDefinition;

test("an effect has the thread without an execution, and its return value is not stored [SA-070]", async () => {
	const seen: unknown[] = [];
	const provider = scripted([{ calls: [{ name: "schedule", args: { n: 7 } }] }, "Done.", "And more."]);
	const later = effect(async (state, n) => {
		seen.push([n, state.execution, state.threadId]);
		await state.setValue("ran", n);
		return { status: "success", result: "the effect's own words" };
	});
	const { threads } = start(oneAgent(provider, { tools: { schedule }, effects: { later } }));
	onTestFinished(() => threads.close());
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Hi" });
	await expect.poll(() => seen).toEqual([[7, null, threadId]]);
	await threads.quiet();
	await say(threads, threadId, "More?");
	expect(await said(threads, threadId)).toEqual([
		"user: Hi",
		"assistant: <schedule>",
		"tool: scheduled string",
		"assistant: Done.",
		"user: More?",
		"assistant: And more.",
	]);
	expect(JSON.stringify(provider.requests)).not.toContain("own words");
	expect(await (await threads.get(threadId))?.getValue("ran")).toBe(7);
});

test("an effect that throws is logged without secrets, and later ones run [SA-069]", async () => {
	const ran: number[] = [];
	const later = effect(async (state, n) => {
		ran.push(n);
		if (n === 1) throw new Error(`no ${await state.env("KEY")}`);
	});
	const { threads, logs } = start(oneAgent(scripted([]), { effects: { later } }), {
		env: { KEY: "correct-horse" },
	});
	onTestFinished(() => threads.close());
	const state = await threads.createThread({ agentId: "helper" });
	await state.scheduleEffect("later", { n: 1 });
	await state.scheduleEffect("later", { n: 2 }, 1);
	const statuses = async () =>
		(await threads.effects(state.threadId).all()).map(({ status, error }) => [status, error]);
	await expect.poll(statuses).toEqual([
		["failed", "no [REDACTED:secret]"],
		["completed", undefined],
	]);
	expect(ran).toEqual([1, 2]);
	await expect
		.poll(() => logs.filter(({ topic }) => topic === "effect"))
		.toEqual([
			expect.objectContaining({ level: "error", message: 'The effect "later" failed: no [REDACTED:secret]' }),
		]);
	await expect(state.scheduleEffect("none")).rejects.toMatchObject({ code: "unknown_effect" });
	expect(await state.getScheduledEffects()).toEqual([]);
});

test("a damaged effect is logged once, the others run, and its thread can be terminated", async () => {
	const path = join(temporaryFolder(), "threads.db");
	const host = sqliteHost(path);
	const ran: number[] = [];
	const later = effect((_state, n) => void ran.push(n));
	let now = Date.now();
	const { threads, logs } = start(oneAgent(scripted([]), { effects: { later } }), {
		host,
		ports: { clock: { now: () => now, monotonic: () => performance.now() } },
	});
	onTestFinished(async () => {
		await threads.close();
		await host.close();
	});
	const [damaged, other] = [
		await threads.createThread({ agentId: "helper" }),
		await threads.createThread({ agentId: "helper" }),
	];
	const id = await damaged.scheduleEffect("later", { n: 1 }, 60_000);
	await other.scheduleEffect("later", { n: 2 }, 60_000);
	const database = new DatabaseSync(path);
	database.exec(`UPDATE timers SET body = substr(body, 1, 9) WHERE name LIKE '%${id}'`);
	database.close();
	const ofEffects = () => logs.filter(({ topic }) => topic === "effect");
	now += 60_000;
	// The clock was set: what is scheduled now has the worker look.
	await other.scheduleEffect("later", { n: 3 });
	await expect.poll(() => [...ran].sort()).toEqual([2, 3]);
	await expect.poll(ofEffects).toEqual([
		expect.objectContaining({
			threadId: damaged.threadId,
			message: expect.stringContaining("cannot be read"),
			data: { id },
		}),
	]);
	// Its claim expires, so that it is found again.
	now += 60_000;
	await other.scheduleEffect("later", { n: 4 });
	await expect.poll(() => [...ran].sort()).toEqual([2, 3, 4]);
	expect(ofEffects()).toHaveLength(1);
	expect(await damaged.getScheduledEffects()).toEqual([]);
	await damaged.terminate();
	expect(await host.timers.list(threads.storeKeyOf(damaged.threadId))).toEqual([]);
});

test("effects of a terminated or deleted thread do not run [SA-071]", async () => {
	const ran: number[] = [];
	const later = effect((_state, n) => void ran.push(n));
	let now = Date.now();
	const { threads } = start(oneAgent(scripted([]), { effects: { later } }), {
		ports: { clock: { now: () => now, monotonic: () => performance.now() } },
	});
	onTestFinished(() => threads.close());
	const [one, two, three] = [
		await threads.createThread({ agentId: "helper" }),
		await threads.createThread({ agentId: "helper" }),
		await threads.createThread({ agentId: "helper" }),
	];
	for (const [n, state] of [one, two, three].entries()) await state.scheduleEffect("later", { n }, 60_000);
	// What has run is forgotten too.
	await two.scheduleEffect("later", { n: 0 });
	await expect.poll(async () => (await threads.effects(two.threadId).all())[0]?.status).toBe("completed");
	await one.terminate();
	await threads.delete(two.threadId);
	expect(await one.getScheduledEffects()).toEqual([]);
	now += 60_000;
	// The clock was set: what is scheduled now has the worker look.
	await three.scheduleEffect("later", { n: 9 });
	await expect.poll(() => [...ran].sort()).toEqual([0, 2, 9]);
	expect((await threads.effects(one.threadId).all()).map(({ status }) => status)).toEqual(["canceled"]);
	expect(await threads.effects(two.threadId).all()).toEqual([]);
});

test("effects scheduled by a dead process are run by the next one that works [SA-067]", async () => {
	const path = join(temporaryFolder(), "threads.db");
	const ran: number[] = [];
	const later = effect((_state, n) => void ran.push(n));
	const project = oneAgent(scripted([]), { effects: { later } });
	const before = sqliteHost(path);
	const first = start(project, { host: before });
	const { threadId } = await first.threads.createThread({ agentId: "helper" });
	// As a process that dies before it has carried anything out: only the timer is there.
	await first.threads.effects(threadId).schedule("later", { n: 1 });
	await first.threads.close();
	await before.close();
	const after = sqliteHost(path);
	const second = start(project, { host: after });
	onTestFinished(async () => {
		await second.threads.close();
		await after.close();
	});
	await second.threads.supervise();
	await expect.poll(() => ran, { timeout: 30_000 }).toEqual([1]);
	await expect
		.poll(async () => (await second.threads.effects(threadId).all()).map(({ status }) => status))
		.toEqual(["completed"]);
});

test.each([
	["a", "b"],
	[undefined, "b"],
	["a", undefined],
])(
	"of projects in one store (%s, %s) each runs its own effects and leaves the other's unchanged",
	async (one, other) => {
		const host = memoryHost();
		const ran: number[] = [];
		const later = effect((_, n) => void ran.push(n));
		const project = oneAgent(scripted([]), { effects: { later } });
		const [mine, theirs] = [one, other].map((namespace) => {
			const given = namespace === undefined ? {} : { namespace };
			const { threads } = start(project, { host, ...given });
			onTestFinished(() => threads.close());
			return threads;
		}) as [Threads, Threads];
		const state = await mine.createThread({ agentId: "helper" });
		const { threadId } = await theirs.createThread({ agentId: "helper" });
		await theirs.effects(threadId).schedule("later", { n: 1 }); // which nobody carries out yet
		await state.scheduleEffect("later", { n: 2 });
		await expect.poll(() => ran).toEqual([2]);
		await mine.close();
		const claimed = await host.timers?.claim({ now: Date.now(), leaseMs: 0, namespace: other ?? null });
		expect(claimed?.map(({ attempt }) => attempt)).toEqual([1]);
		await theirs.supervise();
		await expect.poll(() => ran).toEqual([2, 1]);
	},
);
