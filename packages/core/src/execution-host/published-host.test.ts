// The hosts of document 5, unchanged from the package they were written for, and what clients of that package require of
// ours.
import { type Script, scriptedModel } from "@holdfast/testing";
import { UPPError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { ToolContext } from "../tools/types.ts";
import {
	agentOn,
	allOf,
	drain,
	handClock,
	otherProcess,
	reminder,
	settled,
} from "./execution-host.fixture.ts";
import { createInMemoryExecutionHost } from "./in-memory.ts";
import { publishedHost } from "./published-host.fixture.ts";

const add = {
	name: "add",
	description: "Adds.",
	parameters: { type: "object" as const, properties: {} },
	run: () => 3,
};

const calling = [{ toolCalls: [{ name: "add" }] }, "It is 3."];

describe("a host that implements the public port", () => {
	test("runs turns, and keeps their runs, checkpoints and events [SES-092] [SES-102]", async () => {
		const { host, tables } = publishedHost();
		const run = await agentOn(host, calling, { tools: [add], namespace: "n" })
			.session("s")
			.send("1 + 2?");
		const emitted = await drain(run);
		expect(emitted.at(-1)).toEqual({ type: "turn-end" });
		expect(tables.runs.get(run.runId)).toEqual({
			runId: run.runId,
			rootRunId: run.runId,
			kind: "user-turn",
			status: "completed",
			sessionKey: "s",
			ownerNamespace: "n",
			checkpointVersion: 6,
			output: "It is 3.",
		});
		const line = tables.checkpoints.get(run.runId) ?? [];
		expect(line.map(({ phase, version }) => [phase, version])).toEqual([
			["before-model", 1],
			["after-model", 2],
			["before-tool", 3],
			["after-tool", 4],
			["before-model", 5],
			["after-model", 6],
		]);
		expect(line[2]?.pendingToolCall).toEqual({ toolCallId: "call_0_0" });
		expect(new Set(line.map(({ checkpointId }) => checkpointId)).size).toBe(6);
		expect(tables.events.get(run.runId)).toEqual(emitted);
		const read = await allOf(host.store.events.read(run.runId, { offset: 2 }));
		expect(read[0]).toEqual({ cursor: { offset: 3 }, event: emitted[2], runId: run.runId });
	});

	test("returns the outcome of a failed and an interrupted run", async () => {
		const { host, tables } = publishedHost();
		const script = [{ toolCalls: [{ name: "add" }], text: "Let me see." }, { error: new Error("broken") }];
		const failed = await agentOn(host, script, { tools: [add] }).send("go");
		await drain(failed);
		expect(tables.runs.get(failed.runId)).toMatchObject({ status: "error", output: "Let me see." });
	});

	test("delivers a notification once, even if it can only be claimed and released [SES-095] [SES-096]", async () => {
		const { host, tables } = publishedHost();
		await host.store.notifications.enqueue({ ...reminder("a"), status: "pending" });
		const about = { kind: "notification", status: "queued", sessionKey: "s", checkpointVersion: 0 } as const;
		const ids = { runId: "run-a", rootRunId: "run-a", dedupeKey: "key-a" };
		await host.store.runs.create({ ...ids, ...about });
		const agents = [1, 2, 3].map(() => agentOn(host, () => "Noted."));
		const runs = await Promise.all(
			Array.from({ length: 9 }, (_, index) => agents[index % 3]?.resume("run-a")),
		);
		const given = runs.filter((run) => run !== null);
		expect(given).toHaveLength(1);
		expect((await drain(given[0] ?? null))[0]).toMatchObject({ type: "runtime-input" });
		expect(tables.notifications.get("key-a")?.status).toBe("acked");
		expect(tables.runs.get("run-a")).toMatchObject({ status: "completed", output: "Noted." });
		expect(await agents[0]?.resume("run-a")).toBeNull();
		const { messages } = await agentOn(host, []).session("s").state();
		expect(messages.map(({ type }) => type)).toEqual(["user", "assistant"]);
	});

	test.each(["claimed", "accepted", "begun"])(
		"loses no notification whose process died when it was %s, and delivers it once [SES-098] [SES-099]",
		async (moment) => {
			const clock = handClock();
			const { host, tables } = publishedHost();
			await host.store.notifications.enqueue({ ...reminder("a"), status: "pending" });
			const about = {
				kind: "notification",
				status: "queued",
				sessionKey: "s",
				checkpointVersion: 0,
			} as const;
			await host.store.runs.create({ runId: "run-a", rootRunId: "run-a", dedupeKey: "key-a", ...about });
			const ports = { clock };
			let left = { claimed: 0, accepted: 2, begun: 3 }[moment] ?? 0;
			const died = Promise.withResolvers<void>();
			const { sessions } = host.store;
			const commit: typeof sessions.commit = (...given) => {
				if (left-- > 0) return sessions.commit(...given);
				died.resolve();
				return new Promise(() => {});
			};
			const dying = {
				...host,
				store: { ...host.store, sessions: { load: sessions.load, commit, delete: sessions.delete } },
			};
			void agentOn(dying, () => "never", { ports })
				.resume("run-a")
				.then((run) => run?.result());
			await died.promise;
			const again = { ...sessions };
			const living = agentOn({ ...host, store: { ...host.store, sessions: again } }, () => "Noted.", {
				ports,
			});
			expect(await living.resume("run-a")).toBeNull();
			clock.advance(30_001);
			const run = await living.resume("run-a");
			expect((await run?.result())?.outcome).toBe("completed");
			const { messages } = await living.session("s").state();
			expect(messages.filter(({ type }) => type === "user")).toHaveLength(1);
			expect(tables.runs.get("run-a")?.status).toBe("completed");
		},
	);

	test("lets the caller do background work, and reminds the session of it [SES-116]", async () => {
		const { host, tables, scheduled } = publishedHost();
		const helper = () =>
			new Agent({ name: "helper", description: "Helps.", model: scriptedModel(() => "Helped.") });
		const start = { name: "delegate_to_helper", arguments: { prompt: "a", run_in_background: true } };
		const parent = () => {
			const script = (_: unknown, call: number) => (call === 0 ? { toolCalls: [start] } : "Launched.");
			return new Agent({ model: scriptedModel(script), subagents: [helper()], host });
		};
		const run = await parent().session("s").send("go");
		await drain(run);
		const [child] = await host.store.runs.listByParentRunId(run.runId);
		expect(child).toMatchObject({ kind: "background-subagent", publicTaskId: expect.stringMatching(/^bg_/) });
		expect(scheduled).toEqual([child?.runId]);
		const later = new Agent({ model: scriptedModel(() => "Noted."), subagents: [helper()], host });
		await drain(await later.resume(child?.runId ?? ""));
		expect(tables.runs.get(child?.runId ?? "")).toMatchObject({ status: "completed", output: "Helped." });
		await expect.poll(() => scheduled).toHaveLength(2);
		const events = await drain(await later.resume(scheduled[1] ?? ""));
		expect(JSON.stringify(events[0])).toContain(child?.publicTaskId);
		expect(events).toContainEqual({
			type: "subagent-job-end",
			subagent: "helper",
			status: "completed",
			eventCount: expect.any(Number),
			task_id: child?.publicTaskId,
		});
		expect(events.at(-1)).toEqual({ type: "turn-end" });
	});

	test.each(["the process that began it", "another process"])(
		"keeps a run that waits for its model without a claim, and %s continues it in time",
		async (who) => {
			const clock = handClock();
			const { host, tables } = publishedHost();
			const about = { ports: { clock, timers: clock.timers() }, tools: [add] };
			const busy = new UPPError("It is busy.", "RATE_LIMITED", "scripted", "llm", 429);
			busy.retryAfterMs = 60_000;
			const script = [{ toolCalls: [{ name: "add" }] }, { error: busy }, "It is 3."];
			const before = agentOn(host, script, about);
			const run = await before.session("s").send("1 + 2?");
			const until = clock.now() + 60_000;
			expect((await drain(run)).at(-1)).toMatchObject({ type: "turn-waiting", wait: { until } });
			const record = tables.runs.get(run.runId);
			expect([record?.status, record?.lease?.leaseUntilMs]).toEqual(["suspended", 0]);
			expect(tables.checkpoints.get(run.runId)?.at(-1)?.phase).toBe("suspended");
			let one = before;
			if (who === "another process") {
				await before.close();
				one = agentOn(otherProcess(host), ["It is 3."], {
					...about,
					ports: { clock, timers: clock.timers() },
				});
				expect(await one.resume(run.runId)).toBeNull();
			}
			clock.advance(59_999);
			await settled();
			expect(tables.runs.get(run.runId)?.status).toBe("suspended");
			clock.advance(1);
			await expect
				.poll(() => tables.runs.get(run.runId))
				.toMatchObject({ status: "completed", output: "It is 3." });
			expect(tables.events.get(run.runId)?.at(-1)).toEqual({ type: "turn-end" });
			expect(await one.resume(run.runId)).toBeNull();
			await one.close();
		},
	);

	test("keeps the caller's identity, down to the reminder of background work", async () => {
		const { host, scheduled } = publishedHost();
		const seen: unknown[] = [];
		const look = {
			...add,
			name: "look",
			run: (_: unknown, { caller }: ToolContext) => void seen.push(caller),
		};
		const looks = { toolCalls: [{ name: "look" }] };
		const looking: Script = ({ messages }) => (messages.at(-1)?.type === "user" ? looks : "Seen.");
		const helper = () =>
			new Agent({ name: "helper", description: "Helps.", model: scriptedModel(looking), tools: [look] });
		const start = { name: "delegate_to_helper", arguments: { prompt: "a", run_in_background: true } };
		const parent = (script: Script) =>
			new Agent({ model: scriptedModel(script), subagents: [helper()], host, tools: [look] });
		const caller = { tenant: "acme", user: "alice" };
		const first = parent((_, call) => (call === 0 ? { toolCalls: [start] } : "Launched."));
		await drain(await first.session("s").send("go", { caller }));
		const later = parent(looking);
		await drain(await later.resume(scheduled[0] ?? ""));
		await expect.poll(() => scheduled).toHaveLength(2);
		await drain(await later.resume(scheduled[1] ?? ""));
		expect(seen).toEqual([caller, caller]);
	});

	test("prevents writes of a paused worker after its run was taken over [SES-100] [SES-101]", async () => {
		const clock = handClock();
		const { host, tables } = publishedHost();
		const timers = clock.timers();
		const gate = Promise.withResolvers<void>();
		const slow = { ...add, retryPolicy: "pure" as const, run: () => gate.promise };
		const { sessions } = host.store;
		const apart = () => ({ ...host, store: { ...host.store, sessions: { ...sessions } } });
		const ports = { clock, timers };
		const first = agentOn(apart(), calling, { tools: [slow], ports });
		const run = await first.session("s").send("go");
		const emitted = drain(run);
		await expect.poll(() => tables.checkpoints.get(run.runId)?.at(-1)?.phase).toBe("before-tool");
		const second = agentOn(apart(), ["Done."], {
			tools: [{ ...slow, run: () => `attempt ${tables.runs.get(run.runId)?.lease?.attempt}` }],
			ports: { clock },
		});
		for (let part = 0; part < 6; part++) {
			clock.advance(10_000);
			await settled();
			expect(await second.resume(run.runId)).toBeNull();
		}
		timers.stopped = true;
		clock.advance(30_001);
		expect((await (await second.resume(run.runId))?.result())?.text).toBe("Done.");
		expect(JSON.stringify(await second.session("s").state())).toContain("attempt 2");
		const before = structuredClone(tables);
		timers.stopped = false;
		gate.resolve();
		expect((await emitted).at(-1)).toMatchObject({ type: "turn-error", code: "lease_lost" });
		expect(tables).toEqual(before);
	});
});

describe("a client of the public port finds on Holdfast's host", () => {
	test("runs that it creates, claims and updates as records", async () => {
		const { store } = createInMemoryExecutionHost();
		const record = {
			runId: "a",
			rootRunId: "a",
			kind: "tool-recovery",
			status: "queued",
			sessionKey: "s",
			checkpointVersion: 0,
		} as const;
		expect(await store.runs.create(record)).toEqual(record);
		const asked = { attempt: 1, leaseId: "l", leaseMs: 100, nowMs: 1_000 };
		const lease = { attempt: 1, leaseId: "l", leaseUntilMs: 1_100 };
		expect(await store.runs.claim("a", asked)).toEqual({
			ok: true,
			lease,
			record: { ...record, status: "leased", lease },
		});
		const other = { ...asked, leaseId: "m" };
		expect(await store.runs.claim("a", other)).toEqual({ ok: false, reason: "leased" });
		expect(await store.runs.claim("b", asked)).toEqual({ ok: false, reason: "not-found" });
		const done = { ...record, status: "completed", output: { text: "x" } } as const;
		expect(await store.runs.update(done)).toEqual(done);
		expect(await store.runs.claim("a", other)).toEqual({ ok: false, reason: "not-claimable" });
		await expect(store.runs.update({ ...record, runId: "b" })).rejects.toMatchObject({
			code: "run_not_found",
		});
	});

	test("the children of a run, with the ids their models know them by, regardless of how they were started", async () => {
		const { store } = createInMemoryExecutionHost();
		const child = {
			kind: "background-subagent",
			status: "queued",
			sessionKey: "c",
			checkpointVersion: 0,
			parentRunId: "p",
			rootRunId: "p",
		} as const;
		await store.runs.create({ ...child, runId: "c", publicTaskId: "bg_c" });
		expect(await store.runs.listByParentRunId("p")).toMatchObject([{ runId: "c", publicTaskId: "bg_c" }]);
	});

	test("a notification that it wrote alone, and leaves others alone", async () => {
		const host = createInMemoryExecutionHost();
		const ours = agentOn(host, () => "Noted.", { namespace: "ours" });
		const record = { ...reminder("a"), ownerNamespace: "theirs", status: "pending" } as const;
		expect(await host.store.notifications.enqueue(record)).toEqual({ ok: true });
		expect(await ours.resume("run-a")).toBeNull();
		expect(await host.store.notifications.getByIdempotencyKey("key-a")).toEqual(record);
		expect(await host.store.runs.get("run-a")).toMatchObject({ status: "queued" });
		expect(await host.store.sessions.load("s")).toBeNull();
		const theirs = agentOn(host, () => "Noted.", { namespace: "theirs" });
		expect((await (await theirs.resume("run-a"))?.result())?.text).toBe("Noted.");
		expect(await host.store.notifications.getByIdempotencyKey("key-a")).toMatchObject({ status: "acked" });
	});

	test("no deliverable notification after cancelling it", async () => {
		const host = createInMemoryExecutionHost();
		await host.store.notifications.enqueue({ ...reminder("a"), status: "cancelled" });
		expect(await agentOn(host, () => "Noted.").resume("run-a")).toBeNull();
	});
});
