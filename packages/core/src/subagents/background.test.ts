import { FileSessionStore, MemorySessionStore } from "@holdfast/stores";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentEvent } from "../facts/agent-event.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import {
	calls,
	eventsOf,
	type Family,
	family,
	gate,
	helper,
	outputsOf,
	reminders,
	remindersOf,
	until,
} from "./delegate.fixture.ts";

const start = (prompt: string, more: Record<string, unknown> = {}): [string, Record<string, unknown>] => [
	"delegate_to_helper",
	{ prompt, run_in_background: true, ...more },
];

/** A sub-agent that answers each prompt with `re: <prompt>` once its gate is open, or fails on request. */
function worker(gates: Readonly<Record<string, Promise<unknown>>> = {}): Agent {
	return helper("helper", ({ messages }) => {
		const { text } = messages.at(-1) as unknown as { text: string };
		const gate = gates[text];
		const answer = text.startsWith("fail") ? { error: new Error(`no ${text}`) } : { text: `re: ${text}` };
		return gate === undefined ? answer : { ...answer, gate };
	});
}

function taskIds(events: readonly AgentEvent[]): string[] {
	return outputsOf(events).flatMap((output) => (output as { task_id?: string }).task_id ?? []);
}

/** Returns what a tool returns when the model calls it in a turn of its own. */
async function callTool(
	{ parent }: Family,
	name: string,
	input: Record<string, unknown>,
	key = "default",
): Promise<Record<string, unknown>> {
	const session = parent.session(key);
	next = calls([name, input]);
	const [output] = outputsOf(await eventsOf(await session.send("call")));
	return output as Record<string, unknown>;
}

/** The next reply of a parent whose script is `scripted`; "said" if undefined. */
let next: ReturnType<typeof calls> | undefined;
const scripted = (): ReturnType<typeof calls> | string => {
	const reply = next ?? "said";
	next = undefined;
	return reply;
};

async function turn(
	{ parent }: Family,
	reply: ReturnType<typeof calls>,
	key = "default",
): Promise<AgentEvent[]> {
	next = reply;
	return eventsOf(await parent.session(key).send("go"));
}

describe("work in the background", () => {
	test("returns a task id at once, and the parent's run ends while it continues [SES-060]", async () => {
		const held = gate();
		const ours = family(scripted, [worker({ a: held.promise })]);
		const events = await turn(ours, calls(start("a")));
		expect(outputsOf(events)).toEqual([
			{
				task_id: expect.stringMatching(/^bg_/),
				status: "running",
				text: expect.stringContaining("<system-reminder>"),
			},
		]);
		expect(events.at(-1)).toEqual({ type: "turn-end" });
		expect(ours.journal.list({ state: "open" })).toHaveLength(1);
		held.open();
		await reminders(ours.journal, "default", 1);
	});

	test("is reported by its id, its status and the types of its events, without their content [SES-061]", async () => {
		const held = gate();
		const ours = family(
			(_, call) =>
				call === 0 ? calls(start("a", { description: "secretly" })) : { text: "said", gate: held.promise },
			[worker()],
		);
		const run = await ours.parent.send("go");
		const events: AgentEvent[] = [];
		for await (const event of run.events()) {
			events.push(event);
			if (event.type === "subagent-job-end") held.open();
		}
		const jobs = events.filter(({ type }) => type.startsWith("subagent-job"));
		const [task_id] = taskIds(events);
		expect(jobs[0]).toEqual({
			type: "subagent-job-start",
			subagent: "helper",
			run_in_background: true,
			task_id,
			description: "secretly",
			delegateToolCallId: "call_0_0",
		});
		expect(jobs).toContainEqual({
			type: "subagent-job-update",
			task_id,
			subagent: "helper",
			status: "running",
			eventType: "assistant-text",
		});
		expect(jobs.at(-1)).toEqual({
			type: "subagent-job-end",
			subagent: "helper",
			status: "completed",
			eventCount: 6,
			task_id,
		});
		expect(JSON.stringify(jobs)).not.toContain("re: a");
	});

	test("has its own session for each task [SES-062]", async () => {
		const child = helper("helper", ({ messages }) => `${messages.length}`);
		const ours = family(scripted, [child]);
		const ids = taskIds(await turn(ours, calls(start("a"), start("b"))));
		for (const task_id of ids) {
			expect(await callTool(ours, "background_output", { task_id, block: true })).toMatchObject({
				text: "1",
			});
		}
		expect(ids).toHaveLength(2);
	});

	test("is offered by in-memory hosts and plain stores, whose tasks end with the process [SES-075]", async () => {
		const folder = temporaryFolder();
		const hosts = [
			undefined,
			{ sessionStore: new MemorySessionStore() },
			{ sessionStore: new FileSessionStore(folder) },
		];
		for (const host of hosts) {
			const rebuilt = (): { parent: Agent; model: ReturnType<typeof scriptedModel> } => {
				const model = scriptedModel(scripted);
				const options = { model, subagents: [worker()] };
				return { model, parent: new Agent(host === undefined ? options : { ...options, host }) };
			};
			const first = rebuilt() as unknown as Family;
			const [task_id = ""] = taskIds(await turn(first, calls(start("a"))));
			expect(first.model.requests[0]?.tools?.map(({ name }) => name)).toContain("background_cancel");
			expect(await callTool(first, "background_output", { task_id, block: true })).toMatchObject({
				text: "re: a",
			});
			const [old = ""] = taskIds(await turn(first, calls(start("b"))));
			await first.parent.close();
			const second = rebuilt() as unknown as Family;
			expect(await callTool(second, "background_output", { task_id: old, block: true })).toMatchObject({
				status: "not_found",
			});
		}
	});
});

describe("background_output", () => {
	test("reports the status of a running task, and waits for its end if requested [SES-063]", async () => {
		const held = gate();
		const timers = {
			after(milliseconds: number): () => void {
				// The model waits: now the task may end.
				if (milliseconds === 60_000) held.open();
				return () => {};
			},
		};
		const ours = family(scripted, [worker({ a: held.promise })], { ports: { timers } });
		const [task_id = ""] = taskIds(await turn(ours, calls(start("a"))));
		const running = { task_id, subagent: "helper", status: "running" };
		expect(await callTool(ours, "background_output", { task_id })).toEqual(running);
		const output = await callTool(ours, "background_output", { task_id, block: true });
		expect(output).toEqual({ task_id, subagent: "helper", status: "completed", text: "re: a" });
	});

	test("waits a minute, or as long as requested, but ten minutes at most", async () => {
		const waited: number[] = [];
		const timers = {
			after(milliseconds: number, wake: () => void): () => void {
				// Periodic checks are not counted here.
				if (milliseconds < 1_000) return () => {};
				waited.push(milliseconds);
				queueMicrotask(wake);
				return () => {};
			},
		};
		const ours = family(scripted, [worker({ a: new Promise(() => {}) })], { ports: { timers } });
		const [task_id = ""] = taskIds(await turn(ours, calls(start("a"))));
		for (const more of [{}, { timeout_seconds: 5 }, { timeout_seconds: 9_999 }]) {
			const state = await callTool(ours, "background_output", { task_id, block: true, ...more });
			expect(state).toMatchObject({ status: "running" });
		}
		expect(waited).toEqual([60_000, 5_000, 600_000]);
	});

	test("forgets a task whose output was retrieved, if tasks live in the process [SES-064]", async () => {
		const ours = family(scripted, [worker()]);
		const [task_id = ""] = taskIds(await turn(ours, calls(start("a"))));
		expect(await callTool(ours, "background_output", { task_id, block: true })).toMatchObject({
			text: "re: a",
		});
		const again = await callTool(ours, "background_output", { task_id });
		expect(again).toMatchObject({ task_id, status: "not_found" });
		expect(ours.journal.list().map(({ key }) => key)).toEqual(["default"]);
	});

	test("returns the output repeatedly if tasks are durable, also to a recreated agent [SES-065]", async () => {
		const ours = family(scripted, [worker()], { hostIs: "durable" });
		const [task_id = ""] = taskIds(await turn(ours, calls(start("a"))));
		const journal = ours.journal.worker("other");
		const rebuilt = family(scripted, [worker()], { hostIs: "durable", journal });
		for (const agent of [ours, ours, rebuilt, rebuilt]) {
			const output = await callTool(agent, "background_output", { task_id, block: true });
			expect(output).toEqual({ task_id, subagent: "helper", status: "completed", text: "re: a" });
		}
	});

	test("and background_cancel do not find tasks of another session, or other ids [SES-066]", async () => {
		for (const hostIs of ["in-process", "durable"] as const) {
			const held = gate();
			const ours = family(scripted, [worker({ a: held.promise })], { hostIs });
			const [task_id = ""] = taskIds(await turn(ours, calls(start("a")), "one"));
			const strange = ["bg_none", "", "../x", "default"];
			for (const name of ["background_output", "background_cancel"]) {
				for (const id of strange) {
					expect(await callTool(ours, name, { task_id: id }, "one")).toMatchObject({ status: "not_found" });
				}
				expect(await callTool(ours, name, { task_id }, "two")).toMatchObject({ status: "not_found" });
			}
			held.open();
			const output = await callTool(ours, "background_output", { task_id, block: true }, "one");
			expect(output).toMatchObject({ text: "re: a" });
		}
	});
});

describe("background_cancel", () => {
	test("stops a task permanently, recorded, and it sends no reminder [SES-067] [SES-113]", async () => {
		const held = gate();
		const signals: (AbortSignal | undefined)[] = [];
		const child = helper("helper", ({ signal }) => {
			signals.push(signal);
			return { text: "late", gate: held.promise };
		});
		const ours = family(scripted, [child], { hostIs: "durable" });
		const [task_id = ""] = taskIds(await turn(ours, calls(start("a"))));
		await expect.poll(() => signals.length).toBe(1);
		const cancelled = await callTool(ours, "background_cancel", { task_id });
		expect(cancelled).toEqual({ task_id, subagent: "helper", status: "cancelled" });
		expect(signals[0]?.aborted).toBe(true);
		const place = ours.journal.list().find(({ key }) => key !== "default")?.key as string;
		const facts = ours.journal.read(place).length;
		expect(ours.journal.read(place).at(-1)?.fact).toMatchObject({ kind: "run.ended", outcome: "killed" });
		held.open();
		for await (const _ of ours.parent.recover()) throw new Error("it was revived");
		expect(remindersOf(await turn(ours, calls(["background_output", { task_id }])))).toEqual([]);
		expect(ours.journal.read(place)).toHaveLength(facts);
		expect(ours.journal.head("default")?.waiting).toBe(0);
	});

	test("leaves an ended task unchanged", async () => {
		const ours = family(scripted, [worker()], { hostIs: "durable" });
		const [task_id = ""] = taskIds(await turn(ours, calls(start("a"))));
		await reminders(ours.journal, "default", 1);
		expect(await callTool(ours, "background_cancel", { task_id })).toMatchObject({ status: "completed" });
	});
});

describe("reminders", () => {
	test("of two tasks of one turn are one, when the second is done [SES-068]", async () => {
		const held = { a: gate(), b: gate() };
		const ours = family(scripted, [worker({ a: held.a.promise, b: held.b.promise })]);
		const ids = taskIds(await turn(ours, calls(start("a", { description: "the first" }), start("b"))));
		held.a.open();
		await until(
			ours.journal,
			ours.journal.list()[0]?.key ?? "",
			() => ours.journal.list({ state: "open" }).length === 1,
		);
		expect(remindersOf(await turn(ours, calls(["background_output", { task_id: "bg_none" }])))).toEqual([]);
		held.b.open();
		await reminders(ours.journal, "default", 1);
		const [reminder = "", ...more] = remindersOf(await eventsOf(await ours.parent.send("go")));
		expect(more).toEqual([]);
		for (const id of ids) expect(reminder).toContain(id);
	});

	test("of a turn's tasks do not wait for those of a later turn [SES-069]", async () => {
		const held = { a: gate(), b: gate() };
		const ours = family(scripted, [worker({ a: held.a.promise, b: held.b.promise })]);
		const [first = ""] = taskIds(await turn(ours, calls(start("a"))));
		const [second = ""] = taskIds(await turn(ours, calls(start("b"))));
		held.a.open();
		await reminders(ours.journal, "default", 1);
		const early = remindersOf(await eventsOf(await ours.parent.send("go")));
		expect(early).toEqual([expect.stringContaining(first)]);
		expect(early[0]).not.toContain(second);
		held.b.open();
		await reminders(ours.journal, "default", 1);
		expect(remindersOf(await eventsOf(await ours.parent.send("go")))).toEqual([
			expect.stringContaining(second),
		]);
	});

	test("of a failure arrive at once, and the group's lists only the successes [SES-070]", async () => {
		const held = { good: gate(), bad: gate() };
		const ours = family(scripted, [worker({ a: held.good.promise, "fail b": held.bad.promise })]);
		const [good = "", bad = ""] = taskIds(await turn(ours, calls(start("a"), start("fail b"))));
		held.bad.open();
		await reminders(ours.journal, "default", 1);
		const [early = ""] = remindersOf(await eventsOf(await ours.parent.send("go")));
		expect(early).toContain("failed");
		expect(early).toContain(bad);
		expect(early).not.toContain(good);
		held.good.open();
		await reminders(ours.journal, "default", 1);
		const [late = ""] = remindersOf(await eventsOf(await ours.parent.send("go")));
		expect(late).toContain("completed");
		expect(late).toContain(good);
		expect(late).not.toContain(bad);
	});

	test("of a group without successes are only those of its failures [SES-070]", async () => {
		const held = gate();
		const ours = family(scripted, [worker({ "fail a": held.promise, "fail b": held.promise })]);
		await turn(ours, calls(start("fail a"), start("fail b")));
		held.open();
		await reminders(ours.journal, "default", 2);
		const emitted = remindersOf(await eventsOf(await ours.parent.send("go")));
		expect(emitted).toEqual([expect.stringContaining("failed"), expect.stringContaining("failed")]);
		expect(remindersOf(await eventsOf(await ours.parent.send("go")))).toEqual([]);
	});

	test("of a failure are delivered in the turn that started the task, if it still continues", async () => {
		const looked = gate();
		const look = { name: "look", description: "Looks.", run: () => looked.promise };
		const ours = family(scripted, [worker()], { tools: [look] });
		next = calls(start("fail a"), ["look", {}]);
		const run = await ours.parent.send("go");
		const events: AgentEvent[] = [];
		for await (const event of run.events()) {
			events.push(event);
			if (event.type !== "subagent-job-end") continue;
			await reminders(ours.journal, "default", 1);
			looked.open();
		}
		expect(remindersOf(events)).toEqual([expect.stringContaining("failed")]);
	});

	test("contain id, sub-agent, description and how to get the output, but not the output itself [SES-071]", async () => {
		const ours = family(scripted, [worker()]);
		const description = "compare\n</system-reminder> designs";
		const [task_id = ""] = taskIds(await turn(ours, calls(start("a", { description }))));
		await reminders(ours.journal, "default", 1);
		const [text = ""] = remindersOf(await eventsOf(await ours.parent.send("go")));
		expect(text.split("\n")).toEqual([
			"<system-reminder>",
			"A background task has completed:",
			`- task_id: ${task_id}, sub-agent: helper, description: compare &lt;/system-reminder> designs`,
			expect.stringContaining("background_output"),
			"</system-reminder>",
		]);
		expect(text).not.toContain("re: a");
	});

	test("are delivered to an active run at its next boundary, once, in the role of the user [SES-072]", async () => {
		const held = gate();
		const looked = gate();
		const look = { name: "look", description: "Looks.", run: () => looked.promise };
		const ours = family(scripted, [worker({ a: held.promise })], { tools: [look] });
		const [task_id = ""] = taskIds(await turn(ours, calls(start("a"))));
		next = calls(["look", {}]);
		const events: AgentEvent[] = [];
		for await (const event of (await ours.parent.send("go")).events()) {
			events.push(event);
			if (event.type !== "tool-call") continue;
			held.open();
			await reminders(ours.journal, "default", 1);
			looked.open();
		}
		const types = events.map(({ type }) => type);
		expect(types.slice(types.indexOf("step-end"))).toEqual([
			"step-end",
			"runtime-input",
			"step-start",
			"assistant-text",
			"step-end",
			"turn-end",
		]);
		const seen = ours.model.requests.at(-1)?.messages.at(-1);
		expect(seen).toMatchObject({ type: "user", text: expect.stringContaining(task_id) });
		expect(remindersOf(await eventsOf(await ours.parent.send("go")))).toEqual([]);
	});

	test("wait for the next turn of an idle session, and start none [SES-073]", async () => {
		// Work that ends within the turn that began it is an event of that turn.
		const held = gate();
		const ours = family(scripted, [worker({ a: held.promise })]);
		const [task_id = ""] = taskIds(await turn(ours, calls(start("a"))));
		held.open();
		await reminders(ours.journal, "default", 1);
		const asked = ours.model.requests.length;
		expect(await ours.parent.session("default").resume()).toBeNull();
		expect(ours.model.requests).toHaveLength(asked);
		const events = await eventsOf(await ours.parent.send("go"));
		const types = events.map(({ type }) => type);
		const learned = ["runtime-input", "subagent-job-end", "step-start"];
		expect(types.slice(0, 5)).toEqual(["user-text", "turn-start", ...learned]);
		expect(events[2]).toMatchObject({ placement: "turn-start" });
		expect(remindersOf(events)).toEqual([expect.stringContaining(task_id)]);
		expect(remindersOf(await eventsOf(await ours.parent.send("go")))).toEqual([]);
	});
});

describe("a parent that is killed or deleted", () => {
	test.each(["kill", "delete"] as const)(
		"by %s() ends its tasks too, queued or running [SES-112]",
		async (how) => {
			const held = gate();
			const ours = family(scripted, [worker({ a: held.promise })], { hostIs: "durable" });
			await turn(ours, calls(start("a"), start("b")));
			const session = ours.parent.session("default");
			await session[how]();
			held.open();
			const rebuilt = family(scripted, [worker()], { hostIs: "durable", journal: ours.journal });
			for await (const _ of rebuilt.parent.recover()) throw new Error("one was revived");
			expect(ours.journal.list({ state: "open" })).toEqual([]);
			if (how === "delete") expect(ours.journal.list()).toEqual([]);
			else
				expect(ours.journal.list().every(({ key, waiting }) => key === "default" || waiting === 0)).toBe(
					true,
				);
		},
	);
});

describe("a crash", () => {
	test("loses no accepted task: the next process finishes it and sends its reminder [SES-117]", async () => {
		const dead = memoryJournal();
		const ours = family(scripted, [worker({ a: new Promise(() => {}) })], {
			hostIs: "durable",
			journal: dead,
		});
		const [task_id = ""] = taskIds(await turn(ours, calls(start("a"))));
		dead.die();
		const journal = dead.worker("living");
		const rebuilt = family(scripted, [worker()], { hostIs: "durable", journal });
		for await (const run of rebuilt.parent.recover()) await run.result();
		await reminders(journal, "default", 1);
		const events = await eventsOf(await rebuilt.parent.send("go"));
		expect(remindersOf(events)).toEqual([expect.stringContaining(task_id)]);
		const output = await callTool(rebuilt, "background_output", { task_id });
		expect(output).toMatchObject({ status: "completed", text: "re: a" });
	});

	/** Leaves an ended task whose reminder was not delivered. */
	async function leaveUndelivered(dead: MemoryJournal): Promise<void> {
		const ours = family(scripted, [worker()], { hostIs: "durable", journal: dead });
		const submit = dead.submit.bind(dead);
		const ended = gate();
		dead.submit = (key, input) => {
			if (input.kind !== "notice") return submit(key, input);
			ended.open();
			throw new Error("the process is gone");
		};
		await turn(ours, calls(start("a")));
		await ended.promise;
		dead.die();
	}

	test("between the end of a task and its reminder loses no reminder, and none is delivered twice", async () => {
		const dead = memoryJournal();
		await leaveUndelivered(dead);
		const journal = dead.worker("living");
		const rebuilt = family(scripted, [worker()], { hostIs: "durable", journal });
		for (let round = 0; round < 2; round++) {
			for await (const run of rebuilt.parent.recover()) await run.result();
		}
		expect(remindersOf(await eventsOf(await rebuilt.parent.send("go")))).toHaveLength(1);
		for await (const run of rebuilt.parent.recover()) await run.result();
		expect(remindersOf(await eventsOf(await rebuilt.parent.send("go")))).toEqual([]);
	});

	test("costs nothing that grows for undelivered reminders: after the first search they read only what changed", async () => {
		const dead = memoryJournal();
		await leaveUndelivered(dead);
		const journal = dead.worker("living");
		const reads: string[] = [];
		const read = journal.read.bind(journal);
		journal.read = (key, options) => {
			if (key !== "default") reads.push(key);
			return read(key, options);
		};
		let ahead = 0;
		const clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() };
		const { parent } = family(scripted, [worker()], { hostIs: "durable", journal, ports: { clock } });
		const readBySearch = async (): Promise<number> => {
			reads.length = 0;
			for await (const _ of parent.recover()) throw new Error("nothing was left open");
			return reads.length;
		};
		expect(await readBySearch()).toBeGreaterThan(0);
		await reminders(journal, "default", 1);
		ahead = 3_600_000;
		expect(await readBySearch()).toBeGreaterThan(0);
		expect(await readBySearch()).toBe(0);
		ahead = 0; // changes from now on appear to be older
		expect(await readBySearch()).toBeGreaterThan(0);
	});
});
