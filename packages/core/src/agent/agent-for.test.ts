import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import type { Plugin } from "../policy/plugins/plugin.ts";
import { drain } from "../sessions/drain.ts";
import { anyTool } from "./agent.fixture.ts";
import { AgentSessions } from "./agent-sessions.ts";
import type { AgentFor, TurnOptions } from "./session-agent.ts";

/** The sessions of an agent whose model never answers by itself. */
function sessionsFor(agentFor: AgentFor, options: object = {}): AgentSessions {
	const host = journalHost(memoryJournal());
	return new AgentSessions("id", { host, ...options }, { agentFor });
}

async function said(sessions: AgentSessions, key: string): Promise<string> {
	return (await drain(await sessions.session(key).send("go"))).text;
}

describe("the agent of a turn", () => {
	test("is the one returned for its session, even if the agent itself has no model", async () => {
		const sessions = sessionsFor(({ sessionKey }) => ({ model: scriptedModel([`I am ${sessionKey}`]) }));
		expect(await said(sessions, "a")).toBe("I am a");
		expect(await said(sessions, "b")).toBe("I am b");
	});

	test("is requested before each turn, and applies to that turn", async () => {
		let given: TurnOptions = { model: scriptedModel(["first"]) };
		const sessions = sessionsFor(() => given);
		expect(await said(sessions, "s")).toBe("first");
		given = { model: scriptedModel(["second"]) };
		expect(await said(sessions, "s")).toBe("second");
	});

	test("is the agent itself if nothing is returned", async () => {
		const sessions = sessionsFor(() => undefined, { model: scriptedModel(["own"]) });
		expect(await said(sessions, "s")).toBe("own");
	});

	test("has the plugins' tools, and plugins are set up once for all sessions", async () => {
		let setups = 0;
		const plugin: Plugin = {
			name: "looks",
			setup: (host) => {
				setups++;
				host.tool(anyTool("look", () => "seen"));
			},
		};
		const script = [{ toolCalls: [{ name: "look" }] }, "done"];
		const models = new Map(["a", "b"].map((key) => [key, scriptedModel(script)]));
		const given = new Map([...models].map(([key, model]) => [key, { model, system: key }]));
		const sessions = sessionsFor(({ sessionKey }) => given.get(sessionKey), { plugins: [plugin] });
		expect([await said(sessions, "a"), await said(sessions, "b")]).toEqual(["done", "done"]);
		expect(setups).toBe(1);
		expect(models.get("b")?.requests[0]?.system).toBe("b");
	});

	test("that cannot be created rejects the turn, and the next turn works", async () => {
		let isThere = false;
		const sessions = sessionsFor(() => {
			if (!isThere) throw new Error("There is no such model.");
			return { model: scriptedModel(["here"]) };
		});
		await expect(sessions.session("s").send("go")).rejects.toThrow("There is no such model.");
		isThere = true;
		expect(await said(sessions, "s")).toBe("here");
		expect((await sessions.session("s").state()).messages).toHaveLength(2);
	});

	test("is the session's current one when a run is resumed, and the run records what changed", async () => {
		const journal = memoryJournal();
		const host = journalHost(journal);
		const never = new Promise<never>(() => {});
		const stuck = anyTool("look", () => never);
		const before = scriptedModel([{ toolCalls: [{ name: "look" }] }]);
		const first = new AgentSessions("id", { host }, { agentFor: () => ({ model: before, tools: [stuck] }) });
		const run = await first.session("s").send("go");
		for await (const { type } of run.watch()) if (type === "tool_start") run.suspend();
		await run.result();
		const after = scriptedModel(["done"]);
		const agentFor: AgentFor = () => ({ model: after, system: "New.", tools: [stuck] });
		const second = new AgentSessions("id", { host }, { agentFor });
		const resumed = await second.session("s").resume();
		expect((await resumed?.result())?.text).toBe("done");
		const facts = journal.read("s").map(({ fact }) => fact);
		expect(facts.find(({ kind }) => kind === "run.resumed")).toMatchObject({
			agentChanged: ["instructions"],
		});
	});
});
