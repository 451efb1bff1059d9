// Calls of a sub-agent that wait while the sub-agent still runs another call: shown and answered at once in the top
// session, at any depth.
import { manualTime, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { createSubAgentTool } from "../agent/create-sub-agent-tool.ts";
import { journalHost } from "../host/host-port.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import type { AnyTool } from "../tools/types.ts";
import { calls, eventsOf, gate, helper } from "./delegate.fixture.ts";

const parameters = { type: "object", properties: { path: { type: "string" } } } as const;

/** A tool that requires approval, and the inputs that it ran with. */
function deletion(ran: unknown[]): AnyTool {
	const run = (input: unknown): string => {
		ran.push(input);
		return "removed";
	};
	return { name: "remove", description: "Removes a file.", parameters, needsApproval: true, run };
}

const locate: AnyTool = { name: "locate", description: "Where the user is.", parameters };

/** The ways to delegate at each level; the last agent has a waiting call and a slow one. */
const ways = {
	delegation: ["delegate"],
	createSubAgentTool: ["tool"],
	"three delegations": ["delegate", "delegate", "delegate"],
	"a delegation within a tool within a delegation": ["delegate", "tool", "delegate"],
} as const;

type Way = (typeof ways)[keyof typeof ways];

interface Family {
	readonly parent: Agent;
	readonly journal: MemoryJournal;
	readonly ran: unknown[];
	readonly slow: ReturnType<typeof gate>;
}

function family(way: Way, { call = "remove", journal = memoryJournal(), from = "the start" } = {}): Family {
	const ran: unknown[] = [];
	const slow = gate();
	const working: AnyTool = {
		name: "slow",
		description: "Takes its time.",
		parameters: { type: "object" },
		retryPolicy: "pure",
		run: () => slow.promise.then(() => "slowly"),
	};
	const asks = calls([call, { path: "/tmp" }], ["slow", {}]);
	let agent = helper("worker", from === "the start" ? [asks, "worked"] : ["worked"], {
		tools: [deletion(ran), locate, working],
	});
	way.toReversed().forEach((kind, depth) => {
		const name = `above${depth}`;
		const below = agent;
		const options = depth === way.length - 1 ? { host: journalHost(journal, { capabilities: {} }) } : {};
		const gives = kind === "tool" ? "ask" : `delegate_to_${below.name}`;
		const tool = createSubAgentTool({
			agent: below,
			name: "ask",
			description: "Asks.",
			parameters: { type: "object", properties: { prompt: { type: "string" } } },
		});
		const says = `${name} is done`;
		agent = new Agent({
			name,
			description: "Hands the work down.",
			model: scriptedModel(from === "the start" ? [calls([gives, { prompt: "go" }]), says] : [says]),
			...(kind === "tool" ? { tools: [tool] } : { subagents: [below] }),
			...options,
		});
	});
	return { parent: agent, journal, ran, slow };
}

describe.each(Object.entries(ways))("a call that waits in a sub-agent that still works: %s", (_, way) => {
	test("is listed at once, pushed, approved at once, and runs before the sub-agent waits", async () => {
		const { parent, journal, ran, slow } = family(way);
		const session = parent.session("s");
		const run = await session.send("go");
		const events = eventsOf(run);
		await expect.poll(() => session.pending()).toHaveLength(1);
		const [call] = await session.pending();
		expect(call).toMatchObject({ runId: run.runId, toolName: "remove", awaits: "approval" });
		expect(call?.path).toHaveLength(way.length);
		await session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
		await expect.poll(() => ran).toEqual([{ path: "/tmp" }]);
		await expect.poll(() => session.pending()).toEqual([]);
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		const shown = (await events).flatMap((event) =>
			event.type === "tools-pending" ? [event.toolCalls] : [],
		);
		expect(shown).toEqual([[call], []]);
		for (const { key } of journal.list())
			expect(journal.read(key).map(({ fact }) => fact.kind)).not.toContain("waiting");
		await parent.close();
	});

	test("gets the result of a remote tool at once", async () => {
		const { parent, journal, slow } = family(way, { call: "locate" });
		const session = parent.session("s");
		const run = await session.send("go");
		void run.result();
		await expect.poll(() => session.pending()).toHaveLength(1);
		const [call] = await session.pending();
		const toolCallId = call?.toolCallId ?? "";
		await session.answer([{ toolCallId, output: "Rome" }]);
		await expect(session.answer([{ toolCallId, output: "Paris" }])).rejects.toThrow();
		await expect.poll(() => session.pending()).toEqual([]);
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		expect(JSON.stringify(journal.list().map(({ key }) => journal.read(key)))).toContain("Rome");
		await parent.close();
	});

	test("is waited for once the sub-agent has nothing else to do", async () => {
		const { parent, ran, slow } = family(way);
		const session = parent.session("s");
		const run = await session.send("go");
		void run.result();
		await expect.poll(() => session.pending()).toHaveLength(1);
		const [call] = await session.pending();
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "waiting", pending: [call] });
		const next = await session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
		expect(await next.result()).toMatchObject({ outcome: "completed" });
		expect(ran).toHaveLength(1);
		await parent.close();
	});

	test.each(["interrupt", "stop", "kill"] as const)("ends with the top-level session: %s", async (how) => {
		const { parent, journal, ran } = family(way);
		const session = parent.session("s");
		const run = await session.send("go");
		void run.result();
		await expect.poll(() => session.pending()).toHaveLength(1);
		await session[how]();
		expect(await run.result()).toMatchObject({ outcome: how === "kill" ? "killed" : "aborted" });
		await expect.poll(() => journal.list({ state: "open" })).toEqual([]);
		expect(ran).toEqual([]);
		await parent.close();
	});

	test("is answered from another process while the first one continues working", async () => {
		const journal = memoryJournal();
		const first = family(way, { journal });
		const second = family(way, { journal: journal.worker("second") });
		const run = await first.parent.session("s").send("go");
		const over = run.result();
		await expect.poll(() => second.parent.session("s").pending()).toHaveLength(1);
		const [call] = await second.parent.session("s").pending();
		await second.parent.session("s").answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
		expect(await second.parent.session("s").pending()).toEqual([]);
		first.slow.open();
		await over;
		await expect.poll(() => journal.list({ state: "open" })).toEqual([]);
		expect([...first.ran, ...second.ran]).toHaveLength(1);
		await second.parent.close();
		await first.parent.close();
	});

	test("is answered after a suspension by the process that resumes", async () => {
		const journal = memoryJournal();
		const first = family(way, { journal });
		const run = await first.parent.session("s").send("go");
		void run.result();
		await expect.poll(() => first.parent.session("s").pending()).toHaveLength(1);
		const [call] = await first.parent.session("s").pending();
		await first.parent.close();
		const second = family(way, { journal: journal.worker("second"), from: "the middle" });
		const session = second.parent.session("s");
		expect(await session.pending()).toEqual([call]);
		second.slow.open();
		const next = await session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
		await next.result();
		await expect.poll(() => journal.list({ state: "open" })).toEqual([]);
		expect(second.ran).toEqual([{ path: "/tmp" }]);
		await second.parent.close();
	});
});

test.each(["durable", "in-process"] as const)(
	"a call that waits in a running background task is listed and answered at once: %s",
	async (backgroundSubagents) => {
		const ran: unknown[] = [];
		const slow = gate();
		const working: AnyTool = { name: "slow", description: "Slow.", run: () => slow.promise };
		const asks = calls(["remove", { path: "/tmp" }], ["slow", {}]);
		const worker = helper("worker", [asks, "worked"], { tools: [deletion(ran), working] });
		const journal = memoryJournal();
		const parent = new Agent({
			model: scriptedModel([
				calls(["delegate_to_worker", { prompt: "go", run_in_background: true }]),
				"I asked for it.",
			]),
			subagents: [worker],
			host: journalHost(journal, { capabilities: { backgroundSubagents } }),
		});
		const session = parent.session("s");
		await (await session.send("go")).result();
		await expect.poll(() => session.pending()).toHaveLength(1);
		const [call] = await session.pending();
		expect(call).toMatchObject({ toolName: "remove", taskId: expect.stringMatching(/^bg_/) as string });
		const run = await session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
		await expect.poll(() => ran).toHaveLength(1);
		expect(await session.pending()).toEqual([]);
		slow.open();
		expect(await run.result()).toMatchObject({ outcome: "completed", text: "worked" });
		await parent.close();
	},
);

test("a call with a deadline in a sub-agent that is still working expires there, once", async () => {
	const time = manualTime();
	const slow = gate();
	const working: AnyTool = { name: "slow", description: "Slow.", run: () => slow.promise };
	const model = scriptedModel([calls(["locate", {}], ["slow", {}]), "worked"]);
	const worker = helper("worker", [], {
		model,
		ports: time.ports,
		tools: [{ ...locate, timeoutMs: 5_000 }, working],
	});
	const journal = memoryJournal();
	const parent = new Agent({
		model: scriptedModel([calls(["delegate_to_worker", { prompt: "go" }]), "done"]),
		subagents: [worker],
		ports: time.ports,
		host: journalHost(journal, { capabilities: {} }),
	});
	const session = parent.session("s");
	const run = await session.send("go");
	void run.result();
	await expect.poll(() => session.pending()).toMatchObject([{ deadline: 1_005_000 }]);
	// Only its own session watches it.
	expect([...time.timers].filter(({ at }) => at === 1_005_000)).toHaveLength(1);
	time.pass(5_000);
	await expect.poll(() => session.pending()).toEqual([]);
	slow.open();
	expect(await run.result()).toMatchObject({ outcome: "completed" });
	expect(JSON.stringify(model.requests[1])).toContain("within 5000 ms");
	await parent.close();
});
