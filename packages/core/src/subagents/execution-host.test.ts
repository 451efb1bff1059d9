import { type Script, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { drain, handClock, otherProcess } from "../execution-host/execution-host.fixture.ts";
import type { ExecutionHost } from "../execution-host/execution-host.ts";
import { createInMemoryExecutionHost, type OwnExecutionHost } from "../execution-host/in-memory.ts";
import type { RunRecord } from "../execution-host/run-record.ts";
import type { AgentEvent } from "../facts/agent-event.ts";
import { calls, eventsOf, gate, helper, outputsOf, remindersOf } from "./delegate.fixture.ts";

const durable = { capabilities: { backgroundSubagents: "durable" } } as const;
const start = (prompt: string): [string, Record<string, unknown>] => [
	"delegate_to_helper",
	{ prompt, run_in_background: true },
];

/** A sub-agent that answers its prompts and counts them. */
function worker(gates: Readonly<Record<string, Promise<unknown>>> = {}): { agent: Agent; asked(): number } {
	let asked = 0;
	const agent = helper("helper", ({ messages }) => {
		asked++;
		const { text } = messages.at(-1) as unknown as { text: string };
		const gate = gates[text];
		if (text.startsWith("fail")) return { error: new Error(`no ${text}`) };
		return gate === undefined ? `re: ${text}` : { text: `re: ${text}`, gate };
	});
	return { agent, asked: () => asked };
}

function parentOn(host: ExecutionHost, script: Script, child: Agent): Agent {
	return new Agent({ model: scriptedModel(script), subagents: [child], host });
}

/** Calls `resume` for all due runs, like a scheduler; returns the events of each run by id. */
async function deliver(host: OwnExecutionHost, agent: Agent): Promise<Map<string, readonly AgentEvent[]>> {
	const emitted = new Map<string, readonly AgentEvent[]>();
	for (const { runId } of await host.scheduler.due()) {
		const run = await agent.resume(runId);
		if (run !== null) emitted.set(runId, await drain(run));
		await host.scheduler.settle(runId);
	}
	return emitted;
}

async function children(host: ExecutionHost, runId: string): Promise<readonly RunRecord[]> {
	return host.store.runs.listByParentRunId(runId);
}

/** Settles when a notification is scheduled. */
function scheduled(host: OwnExecutionHost): Promise<void> {
	return new Promise((resolve) => {
		const stop = host.scheduler.watch(() => {
			stop();
			resolve();
		});
	});
}

describe("work in the background on a durable host", () => {
	test("is recorded and scheduled, and done by the worker that is called, as is the reminder [SES-116]", async () => {
		const host = createInMemoryExecutionHost(durable);
		const first = worker();
		const run = await parentOn(host, [calls(start("a")), "Launched."], first.agent)
			.session("s")
			.send("go");
		const [output] = outputsOf(await eventsOf(run)) as [{ task_id: string }];
		expect(first.asked()).toBe(0);
		const [record] = await children(host, run.runId);
		expect(record).toMatchObject({
			kind: "background-subagent",
			status: "queued",
			publicTaskId: output.task_id,
			rootRunId: run.runId,
		});
		const later = worker();
		const next = parentOn(otherProcess(host), ["Noted."], later.agent);
		const done = await deliver(host, next);
		expect([...done.keys()]).toEqual([record?.runId]);
		expect(later.asked()).toBe(1);
		expect((await children(host, run.runId))[0]?.status).toBe("completed");
		if ((await host.scheduler.due()).length === 0) await scheduled(host);
		const [events = []] = [...(await deliver(host, next)).values()];
		expect(remindersOf(events)).toEqual([expect.stringContaining(output.task_id)]);
		expect(events.at(-1)).toEqual({ type: "turn-end" });
	});

	test("returns its output repeatedly, also in other processes [SES-065]", async () => {
		const host = createInMemoryExecutionHost(durable);
		const run = await parentOn(host, [calls(start("a")), "Launched."], worker().agent)
			.session("s")
			.send("go");
		const [{ task_id }] = outputsOf(await eventsOf(run)) as [{ task_id: string }];
		await deliver(host, parentOn(otherProcess(host), [], worker().agent));
		for (let round = 0; round < 2; round++) {
			const script = [calls(["background_output", { task_id }]), "said"];
			const rebuilt = parentOn(otherProcess(host), script, worker().agent);
			const events = await eventsOf(await rebuilt.session("s").send("what came of it?"));
			expect(outputsOf(events)).toEqual([
				{ task_id, subagent: "helper", status: "completed", text: "re: a" },
			]);
		}
	});

	test("is delivered once for a group, even if its tasks end in several processes [SES-068]", async () => {
		const host = createInMemoryExecutionHost(durable);
		const script = [calls(start("a"), start("b")), "Launched."];
		const run = await parentOn(host, script, worker().agent).session("s").send("go");
		const ids = (outputsOf(await eventsOf(run)) as { task_id: string }[]).map(({ task_id }) => task_id);
		const [one, two] = await children(host, run.runId);
		for (const { runId } of [one, two] as RunRecord[]) {
			expect((await host.scheduler.due()).map((due) => due.runId)).toEqual([one?.runId, two?.runId]);
			const notified = runId === two?.runId ? scheduled(host) : undefined;
			await drain(await parentOn(otherProcess(host), [], worker().agent).resume(runId));
			await notified;
		}
		for (const { runId } of [one, two] as RunRecord[]) await host.scheduler.settle(runId);
		expect(await host.scheduler.due()).toHaveLength(1);
		const emitted = await deliver(host, parentOn(otherProcess(host), ["Noted."], worker().agent));
		const [reminder = "", ...more] = [...emitted.values()].flatMap(remindersOf);
		expect(more).toEqual([]);
		for (const id of ids) expect(reminder).toContain(id);
	});

	test("whose process died between delivery and reminder sends the reminder when delivered again", async () => {
		const host = createInMemoryExecutionHost(durable);
		const run = await parentOn(host, [calls(start("a")), "Launched."], worker().agent)
			.session("s")
			.send("go");
		await eventsOf(run);
		const [{ runId } = { runId: "" }] = await children(host, run.runId);
		const tried = gate();
		const dying = otherProcess(host);
		const enqueue = async (): Promise<never> => {
			tried.open();
			throw new Error("the process is gone");
		};
		const store = { ...dying.store, notifications: { ...dying.store.notifications, enqueue } };
		await drain(await parentOn({ ...dying, store }, [], worker().agent).resume(runId));
		await tried.promise;
		const next = parentOn(otherProcess(host), ["Noted."], worker().agent);
		const notified = scheduled(host);
		expect(await next.resume(runId)).toBeNull();
		await notified;
		await host.scheduler.settle(runId);
		const emitted = await deliver(host, next);
		expect([...emitted.values()].flatMap(remindersOf)).toHaveLength(1);
	});
});

describe("a reminder on an execution host", () => {
	/** A session with a waiting reminder; returns its notification's run. */
	async function withReminder(
		script: Script,
	): Promise<{ host: OwnExecutionHost; parent: Agent; runId: string }> {
		const host = createInMemoryExecutionHost();
		const parent = parentOn(host, script, worker().agent);
		const notified = scheduled(host);
		await eventsOf(await parent.session("s").send("go"));
		await notified;
		const [due] = await host.scheduler.due();
		return { host, parent, runId: due?.runId ?? "" };
	}

	test("is delivered by resume(), and not again with the next turn [SES-091] [SES-073]", async () => {
		const { parent, runId } = await withReminder([calls(start("a")), "Launched.", "Noted.", "Next."]);
		expect(remindersOf(await drain(await parent.resume(runId)))).toHaveLength(1);
		expect(remindersOf(await eventsOf(await parent.session("s").send("next")))).toEqual([]);
		expect(await parent.resume(runId)).toBeNull();
	});

	test("is delivered with the next turn, and not again by resume() [SES-073]", async () => {
		const { host, parent, runId } = await withReminder([calls(start("a")), "Launched.", "Next."]);
		const events = await eventsOf(await parent.session("s").send("next"));
		expect(remindersOf(events)).toHaveLength(1);
		expect(await parent.resume(runId)).toBeNull();
		expect(await host.store.runs.get(runId)).toMatchObject({ status: "completed" });
	});
});

describe("cancelling on an execution host", () => {
	test.each(["kill", "delete"] as const)(
		"by %s() has cancelled the child's record when its signal aborts [SES-111]",
		async (how) => {
			const host = createInMemoryExecutionHost();
			const begun = gate();
			const atAbort: Promise<RunRecord | null>[] = [];
			const wait = {
				name: "wait",
				description: "",
				run: (_: unknown, { signal, runId }: { signal: AbortSignal; runId: string }) => {
					signal.addEventListener("abort", () => atAbort.push(host.store.runs.get(runId)));
					begun.open();
					return new Promise(() => {});
				},
			};
			const child = helper("helper", [calls(["wait", {}])], { tools: [wait] });
			const parent = parentOn(host, [calls(["delegate_to_helper", { prompt: "a" }])], child);
			const session = parent.session("s");
			void (await session.send("go")).result();
			await begun.promise;
			await session[how]();
			const records = await Promise.all(atAbort);
			expect(records).toEqual([expect.objectContaining({ kind: "subagent", status: "cancelled" })]);
		},
	);

	test.each(["kill", "delete"] as const)(
		"by %s() reaches waiting children, from a process that never saw them; nothing revives them [SES-112] [SES-113]",
		async (how) => {
			const host = createInMemoryExecutionHost(durable);
			const run = await parentOn(host, [calls(start("a")), "Launched."], worker().agent)
				.session("s")
				.send("go");
			await eventsOf(run);
			const child = worker();
			const other = parentOn(otherProcess(host), [], child.agent);
			await other.session("s")[how]();
			const [record] = await children(host, run.runId);
			expect(record?.status).toBe("cancelled");
			expect(await other.resume(record?.runId ?? "")).toBeNull();
			expect(await deliver(host, other)).toEqual(new Map());
			expect(child.asked()).toBe(0);
			expect(await host.scheduler.due()).toEqual([]);
		},
	);

	test("applies to one that finishes afterwards: it stays cancelled, and no notification of it is delivered [SES-113]", async () => {
		const host = createInMemoryExecutionHost(durable);
		const run = await parentOn(host, [calls(start("a")), "Launched."], worker().agent)
			.session("s")
			.send("go");
		const [{ task_id }] = outputsOf(await eventsOf(run)) as [{ task_id: string }];
		const [{ runId } = { runId: "" }] = await children(host, run.runId);
		const held = gate();
		const working = parentOn(otherProcess(host), [], worker({ a: held.promise }).agent);
		const child = await working.resume(runId);
		const result = child?.result();
		const other = parentOn(otherProcess(host), [], worker().agent);
		await other.session("s").kill();
		held.open();
		expect((await result)?.outcome).not.toBe("completed");
		await working.close();
		expect((await children(host, run.runId)).map(({ status }) => status)).toEqual(["cancelled"]);
		expect(await host.store.notifications.getByIdempotencyKey(`reminder.${task_id}`)).toBeNull();
		expect(await host.store.notifications.getByIdempotencyKey(`reminder.${run.runId}`)).toBeNull();
		expect(await other.resume(runId)).toBeNull();
		expect(await deliver(host, other)).toEqual(new Map());
	});
});

test("a crash between the record of a task and its scheduling loses and duplicates nothing [SES-117]", async () => {
	const clock = handClock();
	const host = createInMemoryExecutionHost({ ...durable, clock });
	const reached = gate();
	const enqueueRun = (): Promise<never> => {
		reached.open();
		return new Promise(() => {});
	};
	const dying = { ...otherProcess(host), scheduler: { ...host.scheduler, enqueueRun } };
	const run = await parentOn(dying, [calls(start("a"))], worker().agent)
		.session("s")
		.send("go");
	void run.result();
	await reached.promise;
	expect(await children(host, run.runId)).toMatchObject([{ status: "queued" }]);
	expect(await host.scheduler.due()).toEqual([]);
	clock.advance(30_001);
	const child = worker();
	const next = parentOn(otherProcess(host), ["Launched."], child.agent);
	await drain(await next.resume(run.runId));
	await deliver(host, next);
	expect(child.asked()).toBe(1);
	expect(await children(host, run.runId)).toMatchObject([{ status: "completed" }]);
});

describe("checkpoints of a delegation", () => {
	test("precede any of the work in its session [SES-103]", async () => {
		const host = createInMemoryExecutionHost();
		const { commit } = host.store.sessions;
		const phases: (string | undefined)[] = [];
		const model = scriptedModel((_, call) => {
			return call === 0 ? calls(["delegate_to_helper", { prompt: "a" }]) : "Done.";
		});
		const parent = new Agent({ model, subagents: [worker().agent], host });
		let runId = "";
		host.store.sessions.commit = async (key, ...given) => {
			// The first entry of the child's session is its prompt.
			if (key.includes("helper")) phases.push((await host.store.checkpoints.latest(runId))?.phase);
			return commit(key, ...given);
		};
		const run = await parent.session("s").send("go");
		runId = run.runId;
		await eventsOf(run);
		expect(phases[0]).toBe("before-child-run");
	});

	test("precede the child's run and the commit of its link [SES-103]", async () => {
		const host = createInMemoryExecutionHost();
		const { create } = host.store.runs;
		const before: (string | undefined)[] = [];
		host.store.runs.create = async (record) => {
			const { parentRunId } = record;
			if (parentRunId !== undefined) before.push((await host.store.checkpoints.latest(parentRunId))?.phase);
			return create(record);
		};
		const parent = parentOn(host, [calls(["delegate_to_helper", { prompt: "a" }]), "Done."], worker().agent);
		const run = await parent.session("s").send("go");
		await eventsOf(run);
		// Its run also reads its record when it begins.
		expect(before[0]).toBe("before-child-run");
		const checkpoints = await host.store.checkpoints.list(run.runId);
		const [child] = await children(host, run.runId);
		const about = { toolCallId: "call_0_0", childRunId: child?.runId };
		expect(checkpoints.filter(({ phase }) => phase.includes("child"))).toEqual([
			expect.objectContaining({ phase: "before-child-run", ...about }),
			expect.objectContaining({ phase: "child-linked", ...about }),
		]);
	});
});
