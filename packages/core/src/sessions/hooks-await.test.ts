// Hooks that wait for something that can only happen after they return get an error, like tools; they may wait for
// anything else.

import { type Script, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { journalHost } from "../host/host-port.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import { definePlugin, type HookName, type Plugin } from "../policy/plugins/plugin.ts";
import type { AnyTool } from "../tools/types.ts";
import type { AgentRun } from "./agent-run.ts";
import { gate, once } from "./sessions.fixture.ts";

type Ask = () => Promise<void>;

/** Calls the tool `do` for each user message except "plain", and finishes when it has a result. */
const script: Script = ({ messages }) => {
	const { type, text } = messages.at(-1) as { type: string; text?: string };
	return type === "user" && text !== "plain" ? { toolCalls: [{ name: "do" }] } : "done";
};

const tool = (more: Partial<AnyTool> = {}): AnyTool => ({
	name: "do",
	description: "does",
	parameters: { type: "object", properties: {} },
	run: () => "did",
	...more,
});

const failing = tool({
	run: () => {
		throw new Error("it fails");
	},
});

const plugin = (hook: HookName, ask: Ask): Plugin =>
	definePlugin({ name: "asking", setup: (host) => host.on(hook, ask) });

function made(options: AgentOptions, journal: MemoryJournal = memoryJournal(), namespace = "a"): Agent {
	const host = journalHost(journal);
	return new Agent({ tools: [tool()], ...options, model: scriptedModel(script), namespace, host });
}

/** Returns the outcome of a wait: a run's outcome, or an error code. */
const outcome = (waiting: Promise<{ readonly outcome: string }>): Promise<unknown> =>
	waiting.then(
		({ outcome }) => outcome,
		({ code }) => code,
	);

const pluginHooks = [
	"turn.before",
	"step.before",
	"step.after",
	"assemble",
	"tool.call",
	"tool.result",
] as const;

const hooks: readonly (readonly [string, (ask: Ask) => AgentOptions])[] = [
	...pluginHooks.map((hook) => [hook, (ask: Ask) => ({ plugins: [plugin(hook, ask)] })] as const),
	["onStepStart", (onStepStart) => ({ strategy: { onStepStart } })],
	["onAct", (onAct) => ({ strategy: { onAct } })],
	["onObserve", (onObserve) => ({ strategy: { onObserve } })],
	["onStepEnd", (onStepEnd) => ({ strategy: { onStepEnd } })],
	["stopCondition", (ask) => ({ strategy: { stopCondition: () => ask().then(() => false) } })],
	["onToolCall", (onToolCall) => ({ toolStrategy: { onToolCall } })],
	["onBeforeCall", (ask) => ({ toolStrategy: { onBeforeCall: () => ask().then(() => true) } })],
	["onAfterCall", (onAfterCall) => ({ toolStrategy: { onAfterCall } })],
	["onError", (onError) => ({ toolStrategy: { onError }, tools: [failing] })],
	["approval", (ask) => ({ tools: [tool({ approval: () => ask().then(() => true) })] })],
	["events.on", (ask) => ({ plugins: [definePlugin({ name: "looking", events: { on: ask } })] })],
	["needsApproval", (ask) => ({ tools: [tool({ needsApproval: () => ask().then(() => false) })] })],
];

describe.for(hooks)("%s", ([, optionsOf]) => {
	test("that sends to its own session and awaits the answer gets `session_busy`; the turn runs afterwards", async () => {
		let sent: AgentRun | undefined;
		const { ask, found } = once(async () => {
			sent = await agent.session("s").send("plain");
			return outcome(sent.result());
		});
		const agent = made(optionsOf(ask));
		expect((await (await agent.session("s").send("one")).result()).outcome).toBe("completed");
		expect(found).toEqual(["session_busy"]);
		expect(await sent?.result()).toMatchObject({ outcome: "completed", text: "done" });
	});

	test("that waits for another session gets its result", async () => {
		const { ask, found } = once(async () => outcome((await agent.session("other").send("plain")).result()));
		const agent = made(optionsOf(ask));
		expect((await (await agent.session("s").send("one")).result()).outcome).toBe("completed");
		expect(found).toEqual(["completed"]);
	});
});

test("a run whose hook lets the error through fails with it, and names the hook", async () => {
	const { ask } = once(async () => (await agent.session("s").send("plain")).result());
	const agent = made({ plugins: [plugin("step.after", ask)] });
	const { outcome, error } = await (await agent.session("s").send("one")).result();
	expect([outcome, error?.code]).toEqual(["error", "plugin_failed"]);
	expect(error?.message).toMatch(/"asking" failed in step\.after: .*"s"/);
});

test.for(["turn.after", "onComplete"])("%s may wait for the session: no run waits for it", async (name) => {
	const { ask, found } = once(async () => outcome((await agent.session("s").send("plain")).result()));
	const options: Record<string, AgentOptions> = {
		"turn.after": { plugins: [plugin("turn.after", ask)] },
		onComplete: { strategy: { onComplete: ask } },
	};
	const agent = made(options[name] ?? {});
	expect((await (await agent.session("s").send("one")).result()).outcome).toBe("completed");
	await expect.poll(() => found).toEqual(["completed"]);
});

test("work that a hook leaves running can wait after the hook has returned", async () => {
	const returned = gate();
	const found: unknown[] = [];
	const { ask } = once(async () => {
		const run = await agent.session("s").send("plain");
		void returned.promise.then(async () => found.push(await outcome(run.result())));
	});
	const agent = made({ plugins: [plugin("turn.before", ask)] });
	await (await agent.session("s").send("one")).result();
	returned.open();
	await expect.poll(() => found).toEqual(["completed"]);
});

test("a cycle of sessions through a hook is cut where it started", async () => {
	const journal = memoryJournal();
	let first: AgentRun | undefined;
	const waits = tool({ run: () => outcome((first as AgentRun).result()) });
	const second = made({ tools: [waits] }, journal, "b");
	const { ask, found } = once(async () => {
		const { state } = await (await second.session("s").send("go")).result();
		return (state.messages[2] as unknown as { results: [{ result: unknown }] }).results[0].result;
	});
	const agent = made({ plugins: [plugin("step.after", ask)] }, journal);
	first = await agent.session("s").send("one");
	expect((await first.result()).outcome).toBe("completed");
	expect(found).toEqual(["session_busy"]);
});

test("a hook that is called for an external result also gets `session_busy`", async () => {
	const { ask, found } = once(async () => outcome((await agent.session("s").send("plain")).result()));
	const { run: _, ...remote } = tool();
	const agent = made({
		tools: [{ ...remote, kind: "remote" } as AnyTool],
		plugins: [plugin("tool.result", ask)],
	});
	const { pending } = await (await agent.session("s").send("one")).result();
	const toolCallId = pending?.[0]?.toolCallId ?? "";
	const answered = await agent.session("s").answer([{ toolCallId, output: "came" }]);
	expect((await answered.result()).outcome).toBe("completed");
	expect(found).toEqual(["session_busy"]);
});

test("a reconciliation of a call that a dead process started also gets `session_busy`", async () => {
	const journal = memoryJournal();
	const started = gate();
	const dying = made({ tools: [tool({ run: () => new Promise(() => started.open()) })] }, journal);
	void (await dying.session("s").send("one")).result();
	await started.promise;
	await dying.close();
	const { ask, found } = once(async () => outcome((await agent.session("s").send("plain")).result()));
	const agent = made({ tools: [tool({ reconcile: () => ask().then(() => ({ result: "did" })) })] }, journal);
	expect((await (await agent.session("s").resume())?.result())?.outcome).toBe("completed");
	expect(found).toEqual(["session_busy"]);
});

test("a model that is a function gets `session_busy` like a tool, and so do its calls in other sessions", async () => {
	const { ask, found } = once(async () => [
		await outcome((await agent.session("other").send("plain")).result()),
		await outcome((await agent.session("s").send("plain")).result()),
	]);
	const model = () => ask().then(() => [{ role: "assistant" as const, content: "done" }]);
	const agent: Agent = new Agent({ model, host: journalHost(memoryJournal()) });
	expect((await (await agent.session("s").send("one")).result()).outcome).toBe("completed");
	expect(found).toEqual([["completed", "session_busy"]]);
});

test("a middleware around a call that a tool makes gets `session_busy` for the tool's session", async () => {
	let own: AgentRun | undefined;
	const found: unknown[] = [];
	const before = async (): Promise<void> => void found.push(await outcome((own as AgentRun).result()));
	const helper = new Agent({ model: scriptedModel(["helped"]), middleware: [{ name: "waits", before }] });
	const agent = made({
		tools: [tool({ run: async () => (await helper.generate("help")).turn.response.text })],
	});
	own = await agent.session("s").send("one");
	expect((await own.result()).outcome).toBe("completed");
	expect(found).toEqual(["session_busy"]);
});
