// Waits of sub-agents, which their parents also wait for.
import { type Script, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import type { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { Fact } from "../facts/fact.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { childPrefix } from "../host/session-key.ts";
import { budget } from "../policy/middleware/budget.ts";
import type { AnyTool } from "../tools/types.ts";
import { calls, eventsOf, family, helper, outputsOf, reminders } from "./delegate.fixture.ts";

const parameters = { type: "object", properties: { path: { type: "string" } } } as const;

/** A tool that requires approval, and the inputs that it ran with. */
function deletion(ran: unknown[] = []): AnyTool {
	return {
		name: "remove",
		description: "Removes a file.",
		parameters,
		needsApproval: true,
		run: (input: unknown) => {
			ran.push(input);
			return "removed";
		},
	};
}

/** A remote tool. */
const locate: AnyTool = { name: "locate", description: "Where the user is.", parameters };

const delegate = (name: string, prompt = "go"): [string, Record<string, unknown>] => [
	`delegate_to_${name}`,
	{ prompt },
];

/** Agents that delegate down a chain; the last one has the tools and the script. */
function chain(names: readonly string[], last: Agent): Agent {
	return names.reduceRight<Agent>(
		(below, name) =>
			helper(name, [calls(delegate(below.name as string)), `${name} is done`], { subagents: [below] }),
		last,
	);
}

function worker(script: Script, options: Partial<AgentOptions>): Agent {
	return helper("worker", script, options);
}

describe("a sub-agent that waits for approval", () => {
	test("makes its parent wait, which lists the call and accepts the answer for it", async () => {
		const ran: unknown[] = [];
		const child = worker([calls(["remove", { path: "/tmp" }]), "removed it"], { tools: [deletion(ran)] });
		const { parent, journal } = family([calls(delegate("worker")), "done"], [child]);
		const session = parent.session("s");
		const run = await session.send("go");
		const events = await eventsOf(run);
		expect(events.at(-1)).toMatchObject({ type: "turn-waiting" });
		const result = await run.result();
		const [call] = result.pending ?? [];
		expect(result).toMatchObject({ outcome: "waiting", runId: run.runId });
		expect(call).toEqual({
			runId: run.runId,
			toolCallId: "call_0_0/call_0_0",
			toolName: "remove",
			arguments: { path: "/tmp" },
			awaits: "approval",
			path: [{ agent: "worker", toolCallId: "call_0_0" }],
		});
		expect(events.at(-1)).toEqual({ type: "turn-waiting", toolCalls: [call] });
		expect(await session.pending()).toEqual([call]);
		expect(ran).toEqual([]);
		const next = await session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
		const rest = await eventsOf(next);
		expect(outputsOf(rest)).toEqual([{ status: "completed", text: "removed it" }]);
		expect(await next.result()).toMatchObject({ outcome: "completed", text: "done", runId: run.runId });
		expect(ran).toEqual([{ path: "/tmp" }]);
		expect(await session.pending()).toEqual([]);
		expect((await journal.list({ state: "open" })).length).toBe(0);
		await parent.close();
	});

	test("is notified of a denial, and answered through three sessions", async () => {
		const ran: unknown[] = [];
		const model = scriptedModel([calls(["remove", { path: "/" }]), "I may not"]);
		const last = worker([], { model, tools: [deletion(ran)] });
		const top = chain(["one", "two"], last);
		const { parent } = family([calls(delegate("one")), "done"], [top]);
		const session = parent.session("s");
		await (await session.send("go")).result();
		const [call] = await session.pending();
		expect(call?.path?.map(({ agent }) => agent)).toEqual(["one", "two", "worker"]);
		const next = await session.answer([
			{ toolCallId: call?.toolCallId ?? "", approved: false, reason: "too dear" },
		]);
		expect(outputsOf(await eventsOf(next))).toEqual([{ status: "completed", text: "one is done" }]);
		expect(JSON.stringify(model.requests[1])).toContain("was not approved: too dear");
		expect(ran).toEqual([]);
		await parent.close();
	});
});

describe("two sub-agents that wait at once", () => {
	test("are answered one after the other, in either order", async () => {
		for (const order of [
			[0, 1],
			[1, 0],
		]) {
			const one = helper("one", [calls(["locate", { path: "1" }]), "said"], { tools: [locate] });
			const two = helper("two", [calls(["locate", { path: "2" }]), "said"], { tools: [locate] });
			const { parent } = family([calls(delegate("one"), delegate("two")), "done"], [one, two]);
			const session = parent.session("s");
			await (await session.send("go")).result();
			const pending = await session.pending();
			expect(pending.map(({ arguments: input }) => input.path)).toEqual(["1", "2"]);
			for (const at of order) {
				const toolCallId = pending[at]?.toolCallId ?? "";
				const next = await session.answer([{ toolCallId, output: `place ${at}` }]);
				await next.result();
			}
			expect(await session.pending()).toEqual([]);
			expect((await session.state()).messages.at(-1)).toMatchObject({ text: "done" });
			await parent.close();
		}
	});

	test("reject all answers if one is wrong", async () => {
		const one = helper("one", [calls(["locate", { path: "1" }]), "said"], { tools: [locate] });
		const two = helper("two", [calls(["remove", { path: "2" }]), "said"], { tools: [deletion()] });
		const { parent, journal } = family(
			[calls(delegate("one"), delegate("two"), ["locate", {}]), "done"],
			[one, two],
			{ tools: [locate] },
		);
		const session = parent.session("s");
		await (await session.send("go")).result();
		const before = JSON.stringify(await journal.list());
		const ids = (await session.pending()).map(({ toolCallId }) => toolCallId);
		const [own = "", first = "", second = ""] = ids;
		const wrong = [
			[
				"invalid_input",
				[
					{ toolCallId: first, output: 1 },
					{ toolCallId: second, output: 1 },
				],
			],
			[
				"invalid_input",
				[
					{ toolCallId: first, output: 1 },
					{ toolCallId: own, approved: true },
				],
			],
			[
				"unknown_tool_call_id",
				[
					{ toolCallId: first, output: 1 },
					{ toolCallId: `${first}x`, output: 1 },
				],
			],
			["unknown_tool_call_id", [{ toolCallId: first, output: 1, runId: "other" }]],
			[
				"duplicate_tool_result",
				[
					{ toolCallId: first, output: 1 },
					{ toolCallId: first, output: 1 },
				],
			],
		] as const;
		for (const [code, answers] of wrong)
			await expect(session.answer(answers)).rejects.toMatchObject({ code });
		await expect(session.answer([{ toolCallId: second, output: 1 }])).rejects.toMatchObject({
			data: { toolCallId: second },
			message: expect.stringContaining(second),
		});
		expect(JSON.stringify(await journal.list())).toBe(before);
		const all = await session.answer([
			{ toolCallId: own, output: 1 },
			{ toolCallId: first, output: 1 },
			{ toolCallId: second, approved: true },
		]);
		expect(await all.result()).toMatchObject({ outcome: "completed", text: "done" });
		await parent.close();
	});
});

test("work that is queued behind waiting work waits with it", async () => {
	const child = worker([calls(["locate", {}]), "first", calls(["locate", {}]), "second"], {
		tools: [locate],
	});
	const { parent } = family([calls(delegate("worker", "a"), delegate("worker", "b")), "said"], [child]);
	const session = parent.session("s");
	await (await session.send("go")).result();
	for (const _ of ["a", "b"]) {
		const pending = await session.pending();
		expect(pending).toHaveLength(1);
		await (await session.answer([{ toolCallId: pending[0]?.toolCallId ?? "", output: 1 }])).result();
	}
	const text = JSON.stringify((await session.state()).messages);
	expect(text).toMatch(/first.*second/);
	await parent.close();
});

describe("the end of a waiting parent", () => {
	test("ends the waiting sub-agents, at every depth", async () => {
		for (const how of ["stop", "kill", "delete"] as const) {
			const last = worker([calls(["remove", { path: "/" }]), "said"], { tools: [deletion()] });
			const top = chain(["one", "two"], last);
			const { parent, journal } = family([calls(delegate("one")), "done"], [top]);
			const session = parent.session("s");
			await (await session.send("go")).result();
			expect(journal.list({ state: "waiting" })).toHaveLength(4);
			await session[how]();
			expect(journal.list({ state: "open" })).toHaveLength(0);
			await parent.close();
		}
	});

	test("also ends them if it failed", async () => {
		const child = worker([calls(["locate", {}]), "said"], { tools: [locate] });
		const wait = Promise.withResolvers<void>();
		const fails: AnyTool = { name: "fails", description: "Fails.", run: () => wait.promise };
		const { parent, journal } = family([calls(delegate("worker"), ["fails", {}])], [child], {
			tools: [fails],
			toolStrategy: {
				onAfterCall: () => {
					throw new Error("no");
				},
			},
		});
		const run = await parent.session("s").send("go");
		const result = run.result();
		while ((await journal.list({ state: "waiting" })).length === 0)
			await new Promise((r) => setTimeout(r, 1));
		wait.resolve();
		expect(await result).toMatchObject({ outcome: "error" });
		await expect.poll(() => journal.list({ state: "open" })).toHaveLength(0);
		await parent.close();
	});
});

test("after a restart another process answers the waiting parent", async () => {
	const journal = memoryJournal();
	const ran: unknown[] = [];
	const build = (script: Script): Agent => {
		const last = worker(script, { tools: [deletion(ran)] });
		const middle = helper("middle", [calls(delegate("worker")), "middle is done"], { subagents: [last] });
		return family([calls(delegate("middle")), "done"], [middle], { journal }).parent;
	};
	const first = build([calls(["remove", { path: "/" }])]);
	await (await first.session("s").send("go")).result();
	await first.close();
	const last = worker(["removed"], { tools: [deletion(ran)] });
	const middle = helper("middle", ["middle is done"], { subagents: [last] });
	const second = family(["done"], [middle], { journal }).parent;
	const session = second.session("s");
	expect(await session.resume()).toBeNull();
	const [call] = await session.pending();
	const next = await session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
	expect(await next.result()).toMatchObject({ outcome: "completed", text: "done" });
	expect(ran).toEqual([{ path: "/" }]);
	await second.close();
});

describe("a sub-agent that waits in the background", () => {
	const inBackground = (name: string): [string, Record<string, unknown>] => [
		`delegate_to_${name}`,
		{ prompt: "go", run_in_background: true },
	];

	test.each(["durable", "in-process"] as const)(
		"is listed and answered by its parent session: %s",
		async (hostIs) => {
			const ran: unknown[] = [];
			const last = worker([calls(["remove", { path: "/tmp" }]), "removed"], { tools: [deletion(ran)] });
			const { parent, journal } = family(
				[calls(inBackground("one")), "I asked for it.", "It is done."],
				[chain(["one"], last)],
				{ hostIs },
			);
			const session = parent.session("s");
			expect(await (await session.send("go")).result()).toMatchObject({ outcome: "completed" });
			await expect.poll(() => session.pending()).toHaveLength(1);
			const [call] = await session.pending();
			expect(call).toMatchObject({
				toolName: "remove",
				awaits: "approval",
				path: [{ agent: "one", toolCallId: "call_0_0" }, { agent: "worker" }],
			});
			await expect(session.answer([{ toolCallId: "x", approved: true }])).rejects.toMatchObject({
				code: "no_pending_tool_calls",
			});
			const withOther = [{ toolCallId: call?.toolCallId ?? "" }, { toolCallId: "x" }];
			await expect(
				session.answer(withOther.map((each) => ({ ...each, approved: true }))),
			).rejects.toMatchObject({ code: "no_pending_tool_calls" });
			expect(await session.pending()).toHaveLength(1);
			const run = await session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
			expect(await run.result()).toMatchObject({ outcome: "completed", text: "one is done" });
			expect(ran).toEqual([{ path: "/tmp" }]);
			expect(await session.pending()).toEqual([]);
			await reminders(journal, "s", 1);
			expect(await (await session.send("And?")).result()).toMatchObject({ text: "It is done." });
			await parent.close();
		},
	);
});

test("the usage of sub-agents, at any depth, is part of their parent's result", async () => {
	const last = worker(["four"], {});
	const { parent } = family([calls(delegate("one")), "done"], [chain(["one"], last)]);
	const run = await parent.session("s").send("go");
	const { usage } = await run.result();
	// Two answers each from the parent and from `one`, and one from the last.
	expect(usage).toMatchObject({ inputTokens: 50, outputTokens: 25 });
	await parent.close();
});

describe("the usage of a background task", () => {
	const begin = calls(["delegate_to_worker", { prompt: "go", run_in_background: true }]);

	test.each(["durable", "in-process"] as const)(
		"is part of the turn that delivers its reminder, once: %s",
		async (hostIs) => {
			const { parent, journal } = family([begin, "begun", "noted", "again"], [worker(["four"], {})], {
				hostIs,
				middleware: [budget({ maxTokens: 1_000 })],
			});
			const session = parent.session("s");
			const usageOf = async (text: string) => (await (await session.send(text)).result()).usage;
			expect(await usageOf("go")).toMatchObject({ inputTokens: 20, outputTokens: 10 });
			await reminders(journal, "s", 1);
			// One answer of its own, and one of the task.
			expect(await usageOf("And?")).toMatchObject({ inputTokens: 20, outputTokens: 10 });
			expect(await usageOf("And now?")).toMatchObject({ inputTokens: 10, outputTokens: 5 });
			expect((await session.state()).metadata.budget).toMatchObject({ tokens: 75 });
			await parent.close();
		},
	);

	test("is part of the turn that cancels it", async () => {
		const child = worker([calls(["remove", { path: "/" }])], { tools: [deletion()] });
		let taskId = "";
		const script: Script = ({ messages }) => {
			const [result] =
				(messages.at(-1) as { results?: { result: { task_id?: string } }[] } | undefined)?.results ?? [];
			taskId ||= result?.result.task_id ?? "";
			const last = messages.at(-1)?.text;
			if (last === "stop") return calls(["background_cancel", { task_id: taskId }]);
			return last === "go" ? begin : "said";
		};
		const { parent } = family(script, [child], { hostIs: "durable" });
		const session = parent.session("s");
		await (await session.send("go")).result();
		await expect.poll(() => session.pending()).toHaveLength(1);
		const { usage } = await (await session.send("stop")).result();
		expect(usage).toMatchObject({ inputTokens: 30, outputTokens: 15 });
		await parent.close();
	});
});

describe("a sub-agent that waits while another call of its parent runs", () => {
	/** A parent that waits only for its own slow tool until `open` is called. */
	async function beside() {
		const slow = Promise.withResolvers<string>();
		const ran: unknown[] = [];
		const child = worker([calls(["remove", { path: "/" }]), "removed it"], { tools: [deletion(ran)] });
		const work: AnyTool = {
			name: "slow",
			description: "Takes its time.",
			parameters: { type: "object" },
			run: () => slow.promise,
		};
		const journal = memoryJournal();
		const { parent } = family([calls(delegate("worker"), ["slow", {}]), "done"], [child], {
			journal,
			tools: [work],
		});
		const session = parent.session("s");
		const run = await session.send("go");
		void run.result();
		await expect.poll(() => session.pending()).toHaveLength(1);
		const [call] = await session.pending();
		return { parent, session, run, ran, journal, call, open: () => slow.resolve("slowly") };
	}

	test.each([true, false])("is shown and answered at once: approved %s", async (approved) => {
		const { parent, session, run, ran, call, open, journal } = await beside();
		expect(call).toMatchObject({
			toolCallId: "call_0_0/call_0_0",
			path: [{ agent: "worker", toolCallId: "call_0_0" }],
		});
		await session.answer([{ toolCallId: call?.toolCallId ?? "", approved }]);
		await expect.poll(() => session.pending()).toEqual([]);
		await expect.poll(() => ran).toHaveLength(approved ? 1 : 0);
		await expect.poll(() => journal.list({ prefix: childPrefix("s"), state: "open" })).toHaveLength(0);
		open();
		expect(await run.result()).toMatchObject({ outcome: "completed", text: "done" });
		expect(journal.read("s").map(({ fact }) => fact.kind)).not.toContain("waiting");
		await parent.close();
	});

	test.each(["interrupt", "stop", "kill"] as const)("ends with its parent: %s", async (how) => {
		const { parent, session, run, ran, journal } = await beside();
		await session[how]();
		expect(await run.result()).toMatchObject({ outcome: how === "kill" ? "killed" : "aborted" });
		await expect.poll(() => journal.list({ state: "open" })).toEqual([]);
		expect(ran).toEqual([]);
		await parent.close();
	});
});

describe("a sub-agent that a deployment removed", () => {
	test.each(["while it works", "while it waits"] as const)(
		"ends with the work that requested it: %s",
		async (when) => {
			const journal = memoryJournal();
			const script: Script =
				when === "while it works" ? () => ({ gate: new Promise(() => {}) }) : [calls(["locate", {}])];
			const child = worker(script, { tools: [locate] });
			const first = family([calls(delegate("worker"))], [child], {
				journal,
				hostIs: "durable",
				name: "boss",
			}).parent;
			const run = await first.session("s").send("go");
			void run.result();
			await expect.poll(() => journal.list({ prefix: childPrefix("s"), state: "open" })).toHaveLength(1);
			if (when === "while it waits") await run.result();
			await first.close();
			const second = family(["It is gone."], [], { journal, hostIs: "durable", name: "boss" }).parent;
			for await (const resumed of second.recover()) await resumed.result();
			await expect.poll(() => journal.head("s")?.openRunId).toBeUndefined();
			for await (const resumed of second.recover()) await resumed.result();
			expect((await second.session("s").state()).messages.at(-1)).toMatchObject({ text: "It is gone." });
			const third = family([], [], { journal, hostIs: "durable", name: "boss" }).parent;
			for await (const resumed of third.recover()) await resumed.result();
			expect(journal.list({ state: "open" })).toEqual([]);
			await second.close();
			await third.close();
		},
	);

	test.each([
		[undefined, undefined],
		["boss", undefined],
		["boss", "other"],
	])("stays if it may belong to another agent: of %s, found by %s", async (name, otherName) => {
		const journal = memoryJournal();
		const child = worker([calls(["locate", {}]), "done"], { tools: [locate] });
		const named = (given: string | undefined) => (given === undefined ? {} : { name: given });
		const background = { prompt: "go", run_in_background: true };
		const first = family([calls(["delegate_to_worker", background]), "started"], [child], {
			journal,
			hostIs: "durable",
			...named(name),
		}).parent;
		await (await first.session("s").send("go")).result();
		await expect.poll(() => journal.list({ state: "waiting" })).toHaveLength(1);
		await first.close();
		const other = family([], [], { journal, hostIs: "durable", ...named(otherName) }).parent;
		for await (const resumed of other.recover()) await resumed.result();
		expect(journal.list({ state: "waiting" })).toHaveLength(1);
		await other.close();
	});
});

test("a sub-agent forgets the delegations that are no longer in its parent's history", async () => {
	const model = scriptedModel(["one", "two", "three", "four"]);
	const { parent } = family(
		[
			...[calls(delegate("worker", "a")), "1", calls(delegate("worker", "b")), "2"],
			...[calls(delegate("worker", "c")), "3", calls(delegate("worker", "d")), "4"],
		],
		[worker([], { model })],
	);
	const session = parent.session("s");
	await (await session.send("first")).result();
	await (await session.send("second")).result();
	const second = (await session.state()).messages.findLast(({ type }) => type === "user");
	await (await session.start("other", { insteadOf: second?.id })).result();
	await (await session.send("last")).result();
	const asked = model.requests.map(({ messages }) =>
		messages.flatMap((message) =>
			message.type === "user" ? String((message as { text?: string }).text) : [],
		),
	);
	expect(asked).toEqual([["a"], ["a", "b"], ["a", "c"], ["a", "c", "d"]]);
	await parent.close();
});

test("the reminder of a task is available for the first request of the next turn", async () => {
	const { parent, model, journal } = family(
		[calls(["delegate_to_worker", { prompt: "go", run_in_background: true }]), "started", "next"],
		[worker(["done"], {})],
	);
	const session = parent.session("s");
	await (await session.send("go")).result();
	await reminders(journal, "s", 1);
	await (await session.send("And?")).result();
	expect(model.requests).toHaveLength(3);
	expect(JSON.stringify(model.requests[2]?.messages)).toContain("<system-reminder>");
	await parent.close();
});

test("a policy of the parent may mask the arguments of a nested call in its record", async () => {
	const child = worker([calls(["remove", { path: "secret" }]), "removed"], { tools: [deletion()] });
	const { parent, journal } = family([calls(delegate("worker")), "done"], [child], {
		middleware: [
			{
				name: "mask",
				begin: () => ({
					admits: ["waiting"],
					admit: (fact: Fact) => ({
						fact: JSON.parse(JSON.stringify(fact).replaceAll("secret", "***")) as Fact,
					}),
				}),
			} as never,
		],
	});
	const session = parent.session("s");
	const { pending = [] } = await (await session.send("go")).result();
	expect(pending).toMatchObject([{ arguments: { path: "***" } }]);
	expect(JSON.stringify(journal.read("s"))).not.toContain("secret");
	const next = await session.answer([{ toolCallId: pending[0]?.toolCallId ?? "", approved: true }]);
	expect(await next.result()).toMatchObject({ outcome: "completed" });
	await parent.close();
});
