import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { sqliteHost } from "../sqlite.ts";
import { agentOn, allOf, drain } from "./execution-host.fixture.ts";
import { createInMemoryExecutionHost } from "./in-memory.ts";

const add = {
	name: "add",
	description: "Adds.",
	parameters: { type: "object" as const, properties: {} },
	run: () => 3,
};

test("send works on an in-memory host without further configuration", async () => {
	const host = createInMemoryExecutionHost();
	const one = agentOn(host, ["Hello.", "Again."]);
	const events = await drain(await one.send("hi"));
	expect(events.map(({ type }) => type)).toEqual([
		"user-text",
		"turn-start",
		"step-start",
		"assistant-text",
		"step-end",
		"turn-end",
	]);
	expect((await (await one.send("more")).result()).text).toBe("Again.");
});

test("every send leaves a run record whose outcome matches its events [SES-092]", async () => {
	const host = createInMemoryExecutionHost();
	let release!: () => void;
	const gate = new Promise<void>((resolve) => {
		release = resolve;
	});
	const one = agentOn(host, (_, call) =>
		call === 0 ? "fine" : call === 1 ? { error: new Error("broken") } : { gate, text: "never" },
	);
	const session = one.session("room:1");
	const completed = await session.send("one");
	const failed = await session.send("two");
	const interrupted = await session.send("three");
	expect(await host.store.runs.get(completed.runId)).toMatchObject({
		status: "running",
		sessionKey: "room:1",
	});
	expect(await host.store.runs.get(failed.runId)).toMatchObject({ status: "queued", sessionKey: "room:1" });
	const ends: (string | undefined)[] = [
		(await drain(completed)).at(-1)?.type,
		(await drain(failed)).at(-1)?.type,
	];
	for await (const event of interrupted.events()) {
		ends[2] = event.type;
		if (event.type === "step-start") queueMicrotask(() => interrupted.interrupt());
	}
	release();
	expect(ends).toEqual(["turn-end", "turn-error", "turn-abort"]);
	const records = await Promise.all(
		[completed, failed, interrupted].map((run) => host.store.runs.get(run.runId)),
	);
	expect(
		records.map((record) => record && [record.runId, record.kind, record.status, record.sessionKey]),
	).toEqual([
		[completed.runId, "user-turn", "completed", "room:1"],
		[failed.runId, "user-turn", "error", "room:1"],
		[interrupted.runId, "user-turn", "cancelled", "room:1"],
	]);
});

test.each(["in memory", "in a file"])(
	"a killed session's runs %s, active and queued, are recorded as cancelled",
	async (place) => {
		const folder = temporaryFolder();
		const file = place === "in a file" ? sqliteHost(join(folder, "host.db")) : undefined;
		const host = file ?? createInMemoryExecutionHost();
		const one = agentOn(host, () => ({ gate: new Promise(() => {}), text: "never" }));
		const active = await one.session("s").send("one");
		const queued = await one.session("s").send("two");
		void active.result();
		await one.session("s").kill();
		expect((await active.result()).outcome).toBe("killed");
		const records = await Promise.all([active, queued].map((run) => host.store.runs.get(run.runId)));
		expect(records.map((record) => record?.status)).toEqual(["cancelled", "cancelled"]);
		await file?.close();
	},
);

test("a run's events are stored on the host as emitted, but not in the session's state [SES-094]", async () => {
	const host = createInMemoryExecutionHost();
	const one = agentOn(host, [{ toolCalls: [{ name: "add" }] }, "It is 3."], { tools: [add] });
	const keys: string[] = [];
	const { commit } = host.store.sessions;
	host.store.sessions.commit = (key, ...rest) => {
		keys.push(key);
		return commit(key, ...rest);
	};
	const run = await one.session("s").send("1 + 2?");
	const emitted = await drain(run);
	const stored = await allOf(host.store.events.read(run.runId));
	expect(stored.map(({ event }) => event)).toEqual(emitted);
	expect(stored.map(({ cursor }) => cursor.offset)).toEqual(emitted.map((_, index) => index + 1));
	for (const offset of [0, 1, 5, emitted.length]) {
		const rest = await allOf(host.store.events.read(run.runId, { offset }));
		expect(rest.map(({ event }) => event)).toEqual(emitted.slice(offset));
	}
	const states = await Promise.all(keys.map((key) => host.store.sessions.load(key)));
	expect(states.length).toBeGreaterThan(0);
	const text = JSON.stringify(states);
	expect(text).toContain("It is 3.");
	expect(text).not.toMatch(/turn-start|step-end|assistant-text|tool-result"/);
});

test("a turn with one tool leaves its checkpoints in order, and a stale version is rejected [SES-102]", async () => {
	const host = createInMemoryExecutionHost();
	const one = agentOn(host, [{ toolCalls: [{ name: "add" }] }, "It is 3."], { tools: [add] });
	const run = await one.session("s").send("1 + 2?");
	await run.result();
	const checkpoints = await host.store.checkpoints.list(run.runId);
	expect(checkpoints.map(({ phase, version }) => [phase, version])).toEqual([
		["before-model", 1],
		["after-model", 2],
		["before-tool", 3],
		["after-tool", 4],
		["before-model", 5],
		["after-model", 6],
	]);
	expect(
		checkpoints.filter(({ toolCallId }) => toolCallId !== undefined).map(({ toolCallId }) => toolCallId),
	).toEqual(["call_0_0", "call_0_0"]);
	expect((await host.store.runs.get(run.runId))?.checkpointVersion).toBe(6);
	const { version: _, ...next } = (await host.store.checkpoints.latest(
		run.runId,
	)) as (typeof checkpoints)[number];
	expect(await host.store.checkpoints.append(next, { expectedVersion: 5 })).toEqual({
		ok: false,
		reason: "stale-version",
		currentVersion: 6,
	});
	expect(await host.store.checkpoints.append(next, { expectedVersion: 6 })).toEqual({ ok: true, version: 7 });
});

test.each(["in memory", "in a file"])(
	"a suspended run %s has a checkpoint that names the calls it waits for [SES-104]",
	async (place) => {
		const folder = temporaryFolder();
		const file = place === "in a file" ? sqliteHost(join(folder, "host.db")) : undefined;
		const host = file ?? createInMemoryExecutionHost();
		const slow = { ...add, name: "slow", run: () => new Promise(() => {}) };
		const script = [{ toolCalls: [{ name: "add" }, { name: "slow" }] }];
		const run = await agentOn(host, script, { tools: [add, slow] })
			.session("s")
			.send("go");
		let called = 0;
		for await (const event of run.events()) if (event.type === "tool-result" && called++ === 0) run.suspend();
		expect((await run.result()).outcome).toBe("suspended");
		const latest = await host.store.checkpoints.latest(run.runId);
		expect(latest).toMatchObject({ phase: "suspended", waitsFor: ["call_0_1"] });
		expect((await host.store.runs.get(run.runId))?.status).toBe("suspended");
		await file?.close();
	},
);

test("the model is called after its checkpoint is committed, and the tool after its own", async () => {
	const host = createInMemoryExecutionHost();
	const seen: (string | undefined)[] = [];
	const look = async (): Promise<void> => {
		const [run] = await host.store.runs.listUnfinished();
		seen.push((await host.store.checkpoints.latest(run?.runId ?? ""))?.phase);
	};
	const one = agentOn(
		host,
		async (_, call) => {
			await look();
			return call === 0 ? { toolCalls: [{ name: "look" }] } : "done";
		},
		{ tools: [{ ...add, name: "look", run: look }] },
	);
	await (await one.send("go")).result();
	expect(seen).toEqual(["before-model", "before-tool", "before-model"]);
});
