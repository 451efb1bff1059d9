// Tools that wait for something that can only happen after they return get an error; they may wait for anything else.

import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { journalHost } from "../host/host-port.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import type { AnyTool, ToolContext } from "../tools/types.ts";
import type { AgentRun } from "./agent-run.ts";
import { drain } from "./drain.ts";
import { gate, settled } from "./sessions.fixture.ts";

/** An agent whose model calls the tool `do` for each user message, and answers with its result. */
function doing(
	run: (context: ToolContext) => unknown,
	journal: MemoryJournal = memoryJournal(),
	namespace = "a",
): Agent {
	const tools: AnyTool[] = [
		{
			name: "do",
			description: "does",
			parameters: { type: "object", properties: {} },
			retryPolicy: "pure",
			run: (_params: unknown, context: ToolContext) => run(context),
		},
	];
	const model = scriptedModel(({ messages }) => {
		const last = messages.at(-1) as { type: string; text?: string; results?: readonly { result: unknown }[] };
		if (last.type === "user" && last.text !== "plain") return { toolCalls: [{ name: "do" }] };
		return String(last.results?.[0]?.result ?? "done");
	});
	return new Agent({ model, tools, namespace, host: journalHost(journal) });
}

const codeOf = (waiting: Promise<unknown>): Promise<unknown> =>
	waiting.then(
		() => "no error",
		(error: { code?: unknown }) => error.code,
	);

test("a tool that awaits its own run gets `session_busy`, regardless of how it waits [API-058]", async () => {
	for (const wait of [
		(run: AgentRun) => run.result(),
		(run: AgentRun) => drain(run),
		async (run: AgentRun) => {
			for await (const event of run.watch()) expect(event).toBeDefined();
		},
	]) {
		let own: AgentRun | undefined;
		const agent = doing(async () => codeOf(wait(own as AgentRun)));
		own = await agent.session("s").send("one");
		expect(await own.result().then(({ text }) => text)).toBe("session_busy");
	}
});

test("a tool that sends to its own session and awaits the answer gets `session_busy`; the turn runs afterwards [API-058]", async () => {
	let sent: AgentRun | undefined;
	const agent = doing(async () => {
		sent = await agent.session("s").send("plain");
		return codeOf(sent.result());
	});
	const { outcome, text } = await (await agent.session("s").send("one")).result();
	expect([outcome, text]).toEqual(["completed", "session_busy"]);
	expect(await sent?.result()).toMatchObject({ outcome: "completed", text: "done" });
});

test("a tool that does not await it, or awaits it after returning, gets no error and does not crash the process", async () => {
	const results: unknown[] = [];
	const returned = gate();
	const agent = doing(async () => {
		const run = await agent.session("s").send("plain");
		void run.result();
		void returned.promise.then(async () => results.push((await run.result()).outcome));
		return "noted";
	});
	const run = await agent.session("s").send("one");
	expect((await run.result()).text).toBe("noted");
	returned.open();
	await expect.poll(() => results).toEqual(["completed"]);
});

test("a tool may await another session to its end, and an ended run of its own session [API-058]", async () => {
	const over: AgentRun[] = [];
	const agent = doing(async () => {
		const other = await agent.session("other").send("plain");
		const before = await over[0]?.result();
		return `${(await other.result()).outcome} ${before?.outcome}`;
	});
	over.push(await agent.session("s").send("plain"));
	await over[0]?.result();
	expect((await (await agent.session("s").send("one")).result()).text).toBe("completed completed");
});

test("a cycle of sessions is cut where it started, and only there", async () => {
	const journal = memoryJournal();
	let first: AgentRun | undefined;
	const second = doing(async () => codeOf((first as AgentRun).result()), journal, "b");
	const middle = doing(
		async () => (await (await second.session("s").send("go")).result()).text,
		journal,
		"m",
	);
	const agent = doing(async () => (await (await middle.session("s").send("go")).result()).text, journal);
	first = await agent.session("s").send("one");
	expect((await first.result()).text).toBe("session_busy");
});

test("a tool is identified by its session also after a call to another session", async () => {
	const other = doing(() => "looked", memoryJournal());
	let own: AgentRun | undefined;
	const agent = doing(async () => {
		expect((await (await other.session("other").send("one")).result()).text).toBe("looked");
		return codeOf((own as AgentRun).result());
	});
	own = await agent.session("s").send("one");
	expect((await own.result()).text).toBe("session_busy");
});

test("two that await a third at once do not await each other", async () => {
	const journal = memoryJournal();
	const opened = gate();
	const third = doing(() => opened.promise.then(() => "opened"), journal, "third");
	const run = await third.session("s").send("go");
	const agents = ["one", "two"].map((name) => doing(async () => (await run.result()).text, journal, name));
	const runs = await Promise.all(agents.map((agent) => agent.session("s").send("one")));
	const texts = Promise.all(runs.map(async (each) => (await each.result()).text));
	await settled();
	opened.open();
	expect(await texts).toEqual(["opened", "opened"]);
});

test("sessions of the same key in two stores are not the same session", async () => {
	const other = doing(() => "", memoryJournal());
	const agent = doing(async () => (await (await other.session("s").send("plain")).result()).text);
	expect((await (await agent.session("s").send("one")).result()).text).toBe("done");
});

test("the tool of a sub-agent that awaits the run of its parent gets `session_busy`", async () => {
	let parentRun: AgentRun | undefined;
	const helper = new Agent({
		name: "helper",
		description: "helps",
		model: scriptedModel(({ messages }) => {
			const last = messages.at(-1) as { type: string; results?: readonly { result: unknown }[] };
			return last.type === "user" ? { toolCalls: [{ name: "wait" }] } : String(last.results?.[0]?.result);
		}),
		tools: [
			{
				name: "wait",
				description: "waits",
				parameters: { type: "object", properties: {} },
				run: () => codeOf((parentRun as AgentRun).result()),
			},
		],
	});
	const agent = new Agent({
		model: scriptedModel(({ messages }) =>
			messages.at(-1)?.type === "user"
				? { toolCalls: [{ name: "delegate_to_helper", arguments: { description: "wait", prompt: "Wait." } }] }
				: JSON.stringify((messages.at(-1) as { results?: unknown }).results),
		),
		subagents: [helper],
	});
	parentRun = await agent.session("s").send("one");
	expect((await parentRun.result()).text).toContain("session_busy");
});
