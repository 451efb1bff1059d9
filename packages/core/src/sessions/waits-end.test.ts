// Every wait of a plugin, a tool or a hook ends: with its result, or with an error that explains why there can be no
// result.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Script, scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { ExecutionHost } from "../execution-host/execution-host.ts";
import { createInMemoryExecutionHost } from "../execution-host/in-memory.ts";
import { storedInput } from "../facts/input.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { storeKeyOf } from "../host/session-key.ts";
import { definePlugin, type HookName, type Plugin } from "../policy/plugins/plugin.ts";
import { sqliteHost } from "../sqlite.ts";
import type { AnyTool } from "../tools/types.ts";
import type { AgentRun } from "./agent-run.ts";
import { noticeIdentity } from "./session-records.ts";
import { gate, type Once, once } from "./sessions.fixture.ts";

/** Calls the tool `do` for each user message except "plain" and reminders, and finishes when it has a result. */
const script: Script = ({ messages }) => {
	const { type, text } = messages.at(-1) as { type: string; text?: string };
	return type === "user" && text === "one" ? { toolCalls: [{ name: "do" }] } : "done";
};

const tool = (more: Partial<AnyTool> = {}): AnyTool => ({
	name: "do",
	description: "does",
	parameters: { type: "object", properties: {} },
	run: () => "did",
	...more,
});

function made(host: ExecutionHost, options: AgentOptions): Agent {
	return new Agent({ tools: [tool()], model: scriptedModel(script), host, ...options });
}

const hooked = (hook: HookName, ask: () => Promise<unknown>): Plugin =>
	definePlugin({ name: "asking", setup: (host) => host.on(hook, async () => void (await ask())) });

/** Waits once, and records the error's code or the result. */
const noted = (wait: () => Promise<unknown>): Once =>
	once(() =>
		wait().then(
			(given) => (given as { outcome?: unknown } | undefined)?.outcome ?? "no error",
			(error: { code?: unknown }) => error.code,
		),
	);

const notice = (sessionKey: string) => ({
	notificationId: "n",
	idempotencyKey: "k",
	runId: "notice",
	sessionKey,
	input: "plain",
});

const outcomeOf = async (sending: Promise<AgentRun | null>): Promise<unknown> =>
	(await (await sending)?.result())?.outcome;

describe("resume(id) of a notification", () => {
	test("of the same session rejects with `session_busy` in a tool; the run delivers the notification", async () => {
		const folder = mkdtempSync(join(tmpdir(), "holdfast-waits-"));
		const host = sqliteHost(join(folder, "host.db"));
		const { ask, found } = noted(async () => {
			await host.journal.submit(storeKeyOf(undefined, "s"), {
				kind: "notice",
				body,
				...noticeIdentity("k"),
			});
			return agent.resume("notice");
		});
		const agent = made(host, { tools: [tool({ run: () => ask().then(() => "did") })] });
		const { id } = noticeIdentity("k");
		const body = storedInput({ shape: "text", message: new UserMessage("plain", { id }) });
		await host.store.notifications.enqueue(notice("s"));
		try {
			const { outcome, state } = await (await agent.session("s").send("one")).result();
			expect([outcome, found]).toEqual(["completed", ["session_busy"]]);
			expect(await agent.resume("notice")).toBeNull();
			expect((await agent.session("s").state()).messages.length).toBeGreaterThanOrEqual(
				state.messages.length,
			);
			expect(JSON.stringify(await agent.session("s").state()).match(/plain/g)).toHaveLength(1);
		} finally {
			await agent.close();
			await host.close();
			rmSync(folder, { recursive: true });
		}
	});

	test("of another session is delivered to that one, and its run can be awaited", async () => {
		const host = createInMemoryExecutionHost();
		const { ask, found } = noted(async () => (await agent.resume("notice"))?.result());
		const agent = made(host, { tools: [tool({ run: () => ask().then(() => "did") })] });
		await host.store.notifications.enqueue(notice("other"));
		expect(await outcomeOf(agent.session("s").send("one"))).toBe("completed");
		expect(found).toEqual(["completed"]);
	});
});

const doors: readonly (readonly [string, (agent: Agent) => Promise<unknown>])[] = [
	["send()", (agent) => agent.session("s").send("plain")],
	["start()", (agent) => agent.session("s").start("plain")],
	["steer()", (agent) => agent.session("s").steer("plain")],
	["overlay()", (agent) => agent.session("s").overlay("plain")],
	["resume()", (agent) => agent.session("s").resume()],
	["release()", (agent) => agent.session("s").release()],
	["answer()", (agent) => agent.session("s").answer([{ toolCallId: "x", output: "" }])],
	["stop()", (agent) => agent.session("s").stop()],
	["pending()", (agent) => agent.session("s").pending()],
	["state()", (agent) => agent.session("s").state()],
	["fork()", (agent) => agent.session("s").fork("t")],
	["kill()", (agent) => agent.session("s").kill()],
	["delete()", (agent) => agent.session("s").delete()],
	["agent.resume()", (agent) => agent.resume("notice")],
	["recover()", (agent) => agent.recover()[Symbol.asyncIterator]().next()],
	["work()", async (agent) => agent.work({ until: "done" }).next()],
	["close()", (agent) => agent.close()],
];

describe.for(["a host", "no host"])("a plugin's setup, with %s,", (where) => {
	test.for(doors)("that waits for %s of its own agent gets `agent_not_ready`", async ([, wait]) => {
		const { ask, found } = noted(() => wait(agent));
		const setup = () => Promise.resolve().then(ask);
		const options: AgentOptions = { tools: [tool()], plugins: [{ setup }], model: scriptedModel(script) };
		const agent: Agent = new Agent(
			where === "a host" ? { ...options, host: createInMemoryExecutionHost() } : options,
		);
		expect(await outcomeOf(agent.session("s").send("plain"))).toBe("completed");
		expect(found).toEqual(["agent_not_ready"]);
	});
});

test("a setup that lets the error through fails the agent with it, and names the plugin", async () => {
	const plugin: Plugin = {
		name: "eager",
		setup: async () => void (await (await agent.session("s").send("plain")).result()),
	};
	const agent: Agent = made(createInMemoryExecutionHost(), {
		plugins: [{ setup: () => Promise.resolve() }, plugin],
	});
	await expect(agent.session("s").send("plain")).rejects.toMatchObject({
		code: "plugin_failed",
		cause: { code: "agent_not_ready" },
	});
});

test("a setup that waits for a session of another agent, whose tool waits for this agent, is cut there", async () => {
	const { ask, found } = noted(() => agent.session("s").send("plain"));
	const other = made(createInMemoryExecutionHost(), {
		tools: [tool({ run: () => ask().then(() => "did") })],
	});
	const setup = async (): Promise<void> => {
		await Promise.resolve();
		expect(await outcomeOf(other.session("o").send("one"))).toBe("completed");
	};
	const agent = made(createInMemoryExecutionHost(), { plugins: [{ setup }] });
	expect(await outcomeOf(agent.session("s").send("plain"))).toBe("completed");
	expect(found).toEqual(["agent_not_ready"]);
});

test("work that a setup leaves running may use the agent once the setup has finished", async () => {
	const { ask, found } = noted(async () => (await agent.session("s").send("plain")).result());
	const over = gate();
	const agent: Agent = made(createInMemoryExecutionHost(), {
		plugins: [{ setup: () => void over.promise.then(ask) }],
	});
	expect(await outcomeOf(agent.session("s").send("plain"))).toBe("completed");
	over.open();
	await expect.poll(() => found).toEqual(["completed"]);
});

/** A run that waits for an outside result, and a hook that is called about it. */
async function answered(wait: (agent: Agent) => Promise<unknown>): Promise<unknown> {
	const { run: _, ...remote } = tool();
	const { ask, found } = noted(() => wait(agent));
	const agent = made(createInMemoryExecutionHost(), {
		tools: [{ ...remote, kind: "remote" } as AnyTool],
		remoteToolTimeoutMs: 30_000,
		plugins: [hooked("tool.result", ask)],
	});
	const { pending } = await (await agent.session("s").send("one")).result();
	const toolCallId = pending?.[0]?.toolCallId ?? "";
	await outcomeOf(agent.session("s").answer([{ toolCallId, output: "came" }])).catch(() => {});
	return found[0];
}

const busy = ["steer()", "resume()", "release()", "answer()", "recover()", "work()", "close()"];

test.for(doors.filter(([name]) => busy.includes(name)))(
	"a hook that is called for an external result and waits for %s gets `session_busy`",
	async ([, wait]) => {
		expect(await answered(wait)).toBe("session_busy");
	},
);

test.for(doors.filter(([name]) => ["stop()", "kill()", "delete()", "state()"].includes(name)))(
	"a hook that is called for an external result may wait for %s",
	async ([, wait]) => {
		expect(await answered(wait)).toBe("no error");
	},
);

test("onComplete that awaits its own result gets `session_busy`", async () => {
	const { ask, found } = noted(() => (own as AgentRun).result());
	const agent = made(createInMemoryExecutionHost(), { strategy: { onComplete: ask } });
	const own = await agent.session("s").send("plain");
	expect((await own.result()).outcome).toBe("completed");
	expect(found).toEqual(["session_busy"]);
});

test("onError that awaits its own result gets `session_busy`, also through another session", async () => {
	const host = journalHost(memoryJournal());
	let own: AgentRun | undefined;
	const inner = noted(() => (own as AgentRun).result());
	const asked = gate();
	const other = made(host as never, {
		namespace: "other",
		tools: [tool({ run: () => asked.promise.then(inner.ask).then(() => "did") })],
	});
	const outer = noted(async () => (await other.session("o").send("one")).result());
	const agent = new Agent({
		model: scriptedModel(() => {
			throw new Error("it fails");
		}),
		host,
		strategy: { onError: () => outer.ask() as never },
	});
	own = await agent.session("s").send("plain");
	asked.open();
	expect((await own.result()).outcome).toBe("error");
	expect([inner.found, outer.found]).toEqual([["session_busy"], ["completed"]]);
});

test("a hook before the first step that stops its run ends it, and the run records that", async () => {
	const { ask, found } = noted(() => agent.session("s").stop());
	const agent = made(createInMemoryExecutionHost(), { plugins: [hooked("turn.before", ask)] });
	expect(await outcomeOf(agent.session("s").send("plain"))).toBe("aborted");
	await expect.poll(() => found).toEqual(["no error"]);
});

test("a plugin that deletes the session while notified of its deletion gets `session_busy`, and may recreate it", async () => {
	const found: unknown[] = [];
	const agent = made(createInMemoryExecutionHost(), {
		plugins: [
			definePlugin({
				setup: (host) =>
					host.on("session.delete", async () => {
						found.push(
							await agent
								.session("s")
								.delete()
								.catch(({ code }) => code),
						);
						found.push(await outcomeOf(agent.session("s").send("plain")));
					}),
			}),
		],
	});
	await outcomeOf(agent.session("s").send("plain"));
	await agent.session("s").delete();
	expect(found).toEqual(["session_busy", "completed"]);
});
