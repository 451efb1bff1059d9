// Background work that ends, as the turns of a session show it at any time.
import { join } from "node:path";
import { type Script, scriptedModel } from "@holdfast/testing";
import { HoldfastError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentEvent } from "../facts/agent-event.ts";
import { sqliteHost } from "../sqlite.ts";
import { calls, eventsOf, family, gate, helper, outputsOf, reminders } from "./delegate.fixture.ts";

const start = (prompt: string): [string, Record<string, unknown>] => [
	"delegate_to_helper",
	{ prompt, run_in_background: true },
];

const isJob = ({ type }: AgentEvent): boolean => type.startsWith("subagent-job");
const endsIn = (events: readonly AgentEvent[]): readonly AgentEvent[] =>
	events.filter(({ type }) => type === "subagent-job-end");

/** Starts work with its first answer, and returns text in all others. */
const launching =
	(...prompts: readonly string[]): Script =>
	(_, call) =>
		call === 0 ? calls(...prompts.map(start)) : "said";

describe("the end of work in the background", () => {
	test("is an event of the turn that started it, also preceded by an update, however fast it is", async () => {
		const over = gate();
		const ours = family(
			(_, call) => (call === 0 ? calls(start("a")) : { text: "said", gate: over.promise }),
			[helper("helper", () => "done")],
		);
		const run = await ours.parent.send("go");
		const events: AgentEvent[] = [];
		for await (const event of run.events()) {
			events.push(event);
			if (event.type === "subagent-job-end") over.open();
		}
		const jobs = events.filter(isJob).map(({ type }) => type);
		expect(jobs[0]).toBe("subagent-job-start");
		expect(jobs.filter((type) => type === "subagent-job-update").length).toBeGreaterThan(0);
		expect(jobs.at(-1)).toBe("subagent-job-end");
		// The reminder arrives with the next turn, which has already received the end.
		await reminders(ours.journal, "default", 1);
		const next = await eventsOf(await ours.parent.send("and now?"));
		expect(next.some(({ type }) => type === "runtime-input")).toBe(true);
		expect(endsIn(next)).toEqual([]);
	});

	test("has an update before it even if none of its run was observed", async () => {
		const over = gate();
		// Another worker finishes it before this one can watch it.
		const child = helper("helper", () => "done");
		const ours = family(
			(_, call) => (call === 0 ? calls(start("a")) : { text: "said", gate: over.promise }),
			[child],
		);
		const { submit } = ours.journal;
		ours.journal.submit = async (key, input) => {
			const submitted = await submit.call(ours.journal, key, input);
			if (!key.includes("helper")) return submitted;
			const { value: lease } = { value: await ours.journal.acquire(key) };
			if (!lease.ok) throw new Error("It is not free.");
			const runId = input.runId ?? "";
			const started = {
				kind: "run.started",
				runKind: "background-subagent",
				agentId: "",
				fingerprint: "",
			} as const;
			const ended = { kind: "run.ended", outcome: "completed" } as const;
			await lease.lease.append({ at: 0, runId, facts: [started, ended], drain: [input.id] });
			await lease.lease.release();
			return submitted;
		};
		const run = await ours.parent.send("go");
		const jobs: AgentEvent[] = [];
		for await (const event of run.events()) {
			if (isJob(event)) jobs.push(event);
			if (event.type === "subagent-job-end") over.open();
		}
		expect(jobs.map(({ type }) => type)).toEqual([
			"subagent-job-start",
			"subagent-job-update",
			"subagent-job-end",
		]);
		expect(jobs[1]).toMatchObject({ status: "completed" });
	});

	test("is reported even if the store failed as the work started", async () => {
		const timers = {
			after(_: number, wake: () => void) {
				const timer = setTimeout(wake);
				return () => clearTimeout(timer);
			},
		};
		const ours = family(launching("a"), [helper("helper", () => "done")], { ports: { timers } });
		const { acquire } = ours.journal;
		let failed = false;
		ours.journal.acquire = async (key, options) => {
			const acquired = await acquire.call(ours.journal, key, options);
			if (failed || !acquired.ok || !key.includes("helper")) return acquired;
			acquired.lease.append = async () => {
				failed = true;
				throw new HoldfastError("journal_failed", "The store failed.", { retryable: true });
			};
			return acquired;
		};
		await eventsOf(await ours.parent.send("go"));
		await reminders(ours.journal, "default", 1);
		expect(failed).toBe(true);
	});

	test("is an event of the turn that is notified of it, once, if its own turn has ended", async () => {
		const held = gate();
		const ours = family(launching("a", "fail"), [
			helper("helper", ({ messages }) => {
				const { text } = messages.at(-1) as unknown as { text: string };
				const gated = { gate: held.promise };
				return text === "fail" ? { error: new Error("no"), ...gated } : { text: `re: ${text}`, ...gated };
			}),
		]);
		const first = await eventsOf(await ours.parent.send("go"));
		const [a, failed] = outputsOf(first) as { task_id: string }[];
		expect(endsIn(first)).toEqual([]);
		held.open();
		await reminders(ours.journal, "default", 2);
		const second = await eventsOf(await ours.parent.send("what came of it?"));
		const about = { type: "subagent-job-end", subagent: "helper", eventCount: expect.any(Number) };
		expect(endsIn(second)).toHaveLength(2);
		expect(endsIn(second)).toEqual(
			expect.arrayContaining([
				{ ...about, status: "completed", task_id: a?.task_id },
				{ ...about, status: "error", error: "no", task_id: failed?.task_id },
			]),
		);
		const types = second.map(({ type }) => type);
		expect(types.indexOf("runtime-input")).toBeLessThan(types.indexOf("subagent-job-end"));
		expect(types.indexOf("subagent-job-end")).toBeLessThan(types.indexOf("step-start"));
		expect(endsIn(await eventsOf(await ours.parent.send("more?")))).toEqual([]);
	});

	test("is an event of the turn that is notified of it in another process", async () => {
		const path = join(temporaryFolder(), "host.db");
		const open = (script: Script) => {
			const host = sqliteHost(path);
			const agent = new Agent({
				model: scriptedModel(script),
				subagents: [helper("helper", () => "done")],
				host,
			});
			const close = async (): Promise<void> => {
				await agent.close();
				await host.close();
			};
			return { host, agent, close };
		};
		const before = open(launching("a"));
		const [{ task_id }] = outputsOf(await eventsOf(await before.agent.send("go"))) as [{ task_id: string }];
		await expect.poll(async () => (await before.host.journal.head("default"))?.waiting).toBe(1);
		await before.close();
		const after = open(() => "said");
		const events = await eventsOf(await after.agent.send("what came of it?"));
		expect(endsIn(events)).toEqual([
			{ type: "subagent-job-end", subagent: "helper", status: "completed", eventCount: 0, task_id },
		]);
		await after.close();
	});
});

test("a run on SQLite lists its work for sub-agents, with the outcomes", async () => {
	const host = sqliteHost(join(temporaryFolder(), "host.db"));
	const held = gate();
	const script: Script = (_, call) =>
		call === 0
			? calls(["delegate_to_helper", { prompt: "first" }], start("slow"), ["add", {}])
			: { text: "said", gate: held.promise };
	const add = { name: "add", description: "Adds.", parameters: { type: "object" as const }, run: () => 3 };
	const waiting = gate();
	const worker = helper("helper", ({ messages }) => {
		const { text } = messages.at(-1) as unknown as { text: string };
		return text === "slow" ? { text: "re: slow", gate: waiting.promise } : `re: ${text}`;
	});
	const agent = new Agent({ model: scriptedModel(script), subagents: [worker], tools: [add], host });
	const run = await agent.session("s").send("go");
	void run.result();
	const { runs } = host.store;
	await expect.poll(async () => (await runs.listByParentRunId(run.runId)).length).toBe(2);
	await expect.poll(async () => (await runs.listByParentRunId(run.runId))[0]?.status).toBe("completed");
	const [first, slow] = await runs.listByParentRunId(run.runId);
	const about = { rootRunId: run.runId, parentRunId: run.runId };
	expect(first).toMatchObject({ ...about, kind: "subagent", output: "re: first" });
	expect(first).not.toHaveProperty("publicTaskId");
	expect(slow).toMatchObject({ ...about, kind: "background-subagent", publicTaskId: `bg_${slow?.runId}` });
	expect(slow).not.toHaveProperty("output");
	waiting.open();
	held.open();
	await run.result();
	await expect.poll(async () => (await runs.get(slow?.runId ?? ""))?.output).toBe("re: slow");
	expect(await runs.listByParentRunId(run.runId)).toEqual([
		first,
		expect.objectContaining({ status: "completed", output: "re: slow" }),
	]);
	expect((await runs.get(run.runId))?.output).toBe("said");
	await agent.close();
	await host.close();
});
