import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/shared/temporary-folder.fixture.ts";
import { type SqliteHost, sqliteHost } from "../../sqlite.ts";
import { agentOn, allOf, drain, reminder } from "../execution-host.fixture.ts";

let folder: string;
let hosts: SqliteHost[];

beforeEach(() => {
	folder = temporaryFolder();
	hosts = [];
});

afterEach(async () => {
	for (const host of hosts) await host.close();
});

/** Opens a host on the file, as each process does. */
function open(): SqliteHost {
	const host = sqliteHost(join(folder, "host.db"));
	hosts.push(host);
	return host;
}

const add = {
	name: "add",
	description: "Adds.",
	parameters: { type: "object" as const, properties: {} },
	run: () => 3,
};

describe("the events of a run, read from its journal, are those that were emitted", () => {
	test("of a turn with a tool, from any cursor [SES-094]", async () => {
		const host = open();
		const one = agentOn(
			host,
			[{ reasoning: "Hm.", text: "Let me see.", toolCalls: [{ name: "add" }] }, "It is 3."],
			{
				tools: [add],
				namespace: "a",
			},
		);
		await drain(
			await one
				.session("s")
				.send("warm up")
				.catch(() => null),
		);
		const run = await agentOn(host, [{ toolCalls: [{ name: "add" }, { name: "none" }] }, "It is 3."], {
			tools: [add],
			namespace: "a",
		})
			.session("s")
			.send("1 + 2?");
		const emitted = await drain(run);
		for (const offset of [0, 1, 4, emitted.length]) {
			const rest = await allOf(open().store.events.read(run.runId, { offset }));
			expect(rest.map(({ event }) => event)).toEqual(emitted.slice(offset));
		}
	});

	test.each(["turn-start", "step-start", "step-end"])(
		"of a turn that was steered at %s",
		async (boundary) => {
			const host = open();
			const session = agentOn(host, () => "Yes.").session("s");
			const run = await session.send("go");
			const emitted: unknown[] = [];
			let steered = false;
			for await (const event of run.events()) {
				emitted.push(event);
				if (event.type !== boundary || steered) continue;
				steered = true;
				await session.steer("and this");
			}
			expect((await allOf(host.store.events.read(run.runId))).map(({ event }) => event)).toEqual(emitted);
			expect(JSON.stringify(emitted)).toContain(`"placement":"${boundary}"`);
		},
	);

	test("of a turn whose model failed in the second step", async () => {
		const host = open();
		const one = agentOn(host, [{ toolCalls: [{ name: "add" }] }, { error: new Error("broken") }], {
			tools: [add],
		});
		const run = await one.send("go");
		const emitted = await drain(run);
		expect((await allOf(host.store.events.read(run.runId))).map(({ event }) => event)).toEqual(emitted);
		expect(await host.store.runs.get(run.runId)).toMatchObject({
			status: "error",
			error: { message: "broken" },
		});
	});

	test("of a turn that was interrupted in a tool", async () => {
		const host = open();
		const slow = { ...add, name: "slow", run: () => new Promise(() => {}) };
		const run = await agentOn(host, [{ toolCalls: [{ name: "slow" }] }], { tools: [slow] }).send("go");
		const emitted: unknown[] = [];
		for await (const event of run.events()) {
			emitted.push(event);
			if (event.type === "tool-call") run.interrupt();
		}
		expect((await allOf(host.store.events.read(run.runId))).map(({ event }) => event)).toEqual(emitted);
	});
});

test("a run's record matches the journal, without being stored itself [SES-092]", async () => {
	const host = open();
	let answer!: () => void;
	const gate = new Promise<void>((resolve) => {
		answer = resolve;
	});
	const one = agentOn(host, () => ({ gate, text: "Done." }), { namespace: "n" });
	const active = await one.session("room:1").send("one");
	const queued = await one.session("room:1").send("two");
	void active.result();
	void queued.result();
	const { runs } = open().store;
	const about = { kind: "user-turn", sessionKey: "room:1", ownerNamespace: "n" };
	expect(await runs.get(active.runId)).toMatchObject({ ...about, runId: active.runId, status: "running" });
	expect(await runs.get(queued.runId)).toMatchObject({ ...about, runId: queued.runId, status: "queued" });
	const unfinished = (await runs.listUnfinished()).map(({ runId }) => runId);
	expect(unfinished).toEqual([active.runId, queued.runId].sort());
	answer();
	expect([(await active.result()).outcome, (await queued.result()).outcome]).toEqual([
		"completed",
		"completed",
	]);
	expect((await runs.get(active.runId))?.status).toBe("completed");
	expect(await runs.listUnfinished()).toEqual([]);
	expect(await runs.get("never")).toBeNull();
});

test("checkpoints are positions in the journal, and cost nothing to keep [SES-102]", async () => {
	const host = open();
	const one = agentOn(host, [{ toolCalls: [{ name: "add" }] }, "It is 3."], { tools: [add] });
	const run = await one.session("s").send("1 + 2?");
	await run.result();
	const checkpoints = await host.store.checkpoints.list(run.runId);
	expect(checkpoints.map(({ phase, version, seq }) => [phase, version, seq])).toEqual([
		["before-model", 1, 2],
		["after-model", 2, 3],
		["before-tool", 3, 4],
		["after-tool", 4, 5],
		["before-model", 5, 5],
		["after-model", 6, 6],
	]);
	const { version: _, ...next } = checkpoints[5] as (typeof checkpoints)[number];
	const stale = await host.store.checkpoints.append(next, { expectedVersion: 5 });
	expect(stale).toEqual({ ok: false, reason: "stale-version", currentVersion: 6 });
});

test("ten resumes of a notification in three processes deliver it once [SES-096]", async () => {
	await open().store.notifications.enqueue(reminder("a"));
	const agents = [open(), open(), open()].map((host) => agentOn(host, () => "Noted."));
	const runs = await Promise.all(
		Array.from({ length: 10 }, (_, index) => agents[index % agents.length]?.resume("run-a")),
	);
	const given = runs.filter((run) => run !== null);
	expect(given).toHaveLength(1);
	const emitted = await drain(given[0] ?? null);
	expect(emitted[0]).toMatchObject({ type: "runtime-input", placement: "turn-start" });
	const { store } = open();
	expect(await store.runs.get("run-a")).toMatchObject({ kind: "notification", status: "completed" });
	expect(await store.notifications.getByIdempotencyKey("key-a")).toMatchObject({ status: "acked" });
	expect((await allOf(store.events.read("run-a"))).map(({ event }) => event)).toEqual(emitted);
	expect((await store.checkpoints.list("run-a")).map(({ phase, version }) => [phase, version])).toEqual([
		["before-notification", 1],
		["before-model", 2],
		["after-model", 3],
		["after-notification", 4],
	]);
	const messages = (await agents[1]?.session("s").state())?.messages ?? [];
	expect(messages.map(({ type }) => type)).toEqual(["user", "assistant"]);
	expect(await agents[2]?.resume("run-a")).toBeNull();
});
