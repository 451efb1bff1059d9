// Runs without any request: they continue by themselves, keep their events, and wait again for a reader.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { manualTime, type Script, scriptedModel } from "@holdfast/testing";
import type { HoldfastError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { memoryHost } from "../host/memory-host.ts";
import { sqliteHost } from "../sqlite.ts";
import { eventsOf, gate, settled, types } from "./sessions.fixture.ts";

const look = { toolCalls: [{ name: "look" }] };

function make(script: Script, options: Partial<AgentOptions> = {}) {
	const time = manualTime();
	const warnings: HoldfastError[] = [];
	const model = scriptedModel(script);
	const agent = new Agent({
		model,
		tools: [anyTool("look", () => "seen", { retryPolicy: "pure" })],
		ports: time.ports,
		onWarning: (warning) => warnings.push(warning),
		...options,
	});
	const pass = async (milliseconds: number): Promise<void> => {
		time.pass(milliseconds);
		await settled();
	};
	const codes = (): string[] => warnings.map(({ code }) => code);
	return { agent, session: agent.session("s"), model, time, pass, warnings, codes };
}

test("a run that no one reads for a second continues by itself, and Holdfast warns once", async () => {
	const { agent, session, model, pass, warnings, time } = make(() => "done");
	await session.send("go");
	await agent.session("other").send("go");
	await pass(999);
	expect(model.requests).toHaveLength(0);
	await pass(1);
	expect(model.requests).toHaveLength(2);
	expect((await session.state()).messages.at(-1)?.text).toBe("done");
	expect(warnings).toMatchObject([{ code: "run_unread", data: { sessionKey: "s" } }]);
	expect(time.timers.size).toBe(0);
	await agent.close();
});

test("the turns after an unread run also start", async () => {
	const { agent, session, pass } = make(({ messages }) => `re: ${messages.length}`);
	await session.send("first");
	const second = await session.send("second");
	const result = second.result();
	await pass(1_000);
	expect((await result).text).toBe("re: 3");
	await agent.close();
});

test("one that a plugin observes also continues, and waits at each boundary only for the plugin", async () => {
	const heard: string[] = [];
	let hold = gate();
	const on = async ({ event: { type } }: { event: { type: string } }): Promise<void> => {
		if (type !== "turn-start" && type !== "step-end") return;
		await hold.promise;
		heard.push(type);
	};
	const plugins = [{ name: "looking", events: { on: on as never } }];
	const { agent, session, model, pass, codes } = make([look, "done"], { plugins });
	await session.send("go");
	const open = async (): Promise<void> => {
		const before = hold;
		hold = gate();
		before.open();
		await settled();
	};
	await settled();
	await pass(1_000);
	expect(codes()).toEqual(["run_unread"]);
	expect([model.requests.length, heard]).toEqual([0, []]);
	await open();
	expect([model.requests.length, heard]).toEqual([1, ["turn-start"]]);
	await open();
	await open();
	expect([model.requests.length, heard]).toEqual([2, ["turn-start", "step-end", "step-end"]]);
	expect((await session.state()).messages.at(-1)?.text).toBe("done");
	await agent.close();
});

test("the second is counted for each run separately", async () => {
	const { agent, session, model, pass } = make(() => "done");
	await session.send("go");
	await pass(600);
	await agent.session("later").send("go");
	await pass(400);
	expect(model.requests).toHaveLength(1);
	await pass(599);
	expect(model.requests).toHaveLength(1);
	await pass(1);
	expect(model.requests).toHaveLength(2);
	await agent.close();
});

test("a consumer drives its run for any duration, from its call of events() [SES-012]", async () => {
	const { agent, session, model, pass, codes } = make(() => "done");
	const run = await session.send("go");
	await pass(900);
	const events = run.events();
	await pass(60_000);
	expect(model.requests).toHaveLength(0);
	const seen = [await events.next(), await events.next()].map(({ value }) => value.type);
	expect(seen).toEqual(["user-text", "turn-start"]);
	await pass(60_000);
	expect(model.requests).toHaveLength(0);
	await events.next(); // step-start
	await pass(60_000);
	expect(model.requests).toHaveLength(0);
	expect(codes()).toEqual([]);
	await events.return?.();
	expect((await run.result()).outcome).toBe("completed");
	await agent.close();
});

test("a run that continued by itself waits again for a later consumer, which misses nothing", async () => {
	const first = gate();
	const { agent, session, model, pass } = make([{ ...look, gate: first.promise }, look, "done"]);
	const run = await session.send("go");
	await pass(1_000);
	expect(model.requests).toHaveLength(1);
	const events = run.events();
	first.open();
	await pass(60_000);
	// The run waits at the end of the first step.
	expect(model.requests).toHaveLength(1);
	const seen: string[] = [];
	for await (const { type } of events) {
		seen.push(type);
		if (type === "step-end" && seen.filter((each) => each === "step-end").length === 1) {
			await pass(60_000);
			expect(model.requests).toHaveLength(1);
			await session.steer("and now?");
		}
	}
	const step = ["step-start", "tool-call", "tool-result", "step-end"];
	expect(seen).toEqual([
		"user-text",
		"turn-start",
		...step,
		"runtime-input",
		...step,
		...["step-start", "assistant-text", "step-end", "turn-end"],
	]);
	await agent.close();
});

test.each([
	["by itself", async (pass: (milliseconds: number) => Promise<void>) => pass(1_000)],
	["with its result", undefined],
] as const)("the last thousand events of a run that continued %s are kept", async (_, wait) => {
	const rounds = 400; // of four events each
	const script = Array.from({ length: rounds }, () => look);
	const { agent, session, pass } = make([...script, "done"], { maxSteps: Number.POSITIVE_INFINITY });
	const run = await session.send("go");
	if (wait === undefined) await run.result();
	else await wait(pass);
	await expect.poll(async () => (await session.state()).messages.at(-1)?.text).toBe("done");
	const events = await eventsOf(run);
	const all = 2 + rounds * 4 + 4;
	expect(events[0]).toEqual({ type: "events-dropped", count: all - 1_000 });
	expect(events).toHaveLength(1_001);
	expect(types(events).slice(-4)).toEqual(["step-start", "assistant-text", "step-end", "turn-end"]);
	await agent.close();
});

test("a late consumer of a long run drives it from there", async () => {
	const first = gate();
	const rounds = 300;
	const script = Array.from({ length: rounds }, () => look);
	const { agent, session, model, pass } = make([...script, { ...look, gate: first.promise }, "done"], {
		maxSteps: Number.POSITIVE_INFINITY,
	});
	const run = await session.send("go");
	await pass(1_000);
	await expect.poll(() => model.requests.length).toBe(rounds + 1);
	const events = run.events();
	first.open();
	await pass(60_000);
	expect(model.requests).toHaveLength(rounds + 1);
	const seen: string[] = [];
	for await (const { type } of events) seen.push(type);
	expect(seen.at(-1)).toBe("turn-end");
	expect(model.requests).toHaveLength(rounds + 2);
	await agent.close();
});

test('with `unread: "wait"` a run waits until it is read', async () => {
	const { agent, session, model, pass, codes } = make(() => "done", { unread: "wait" });
	const run = await session.send("go");
	await pass(3_600_000);
	expect(model.requests).toHaveLength(0);
	expect((await run.result()).text).toBe("done");
	expect(codes()).toEqual([]);
	await agent.close();
});

test("watched and awaited runs leave no timer behind", async () => {
	const { agent, session, time, codes } = make(() => "done");
	await (await session.send("go")).result();
	for await (const event of (await session.send("go")).watch()) void event;
	await eventsOf(await session.send("go"));
	expect(time.timers.size).toBe(0);
	const late = await session.send("go");
	await settled();
	expect(time.timers.size).toBe(1);
	await late.result();
	expect(time.timers.size).toBe(0);
	await agent.close();
	expect(codes()).toEqual([]);
});

test.each([{ unread: "sometimes" }, { onWarning: "loud" }])("the options are checked: %o", (options) => {
	expect(() => make(() => "done", options as never)).toThrow(/The option `(unread|onWarning)` of .* must be/);
});

describe("ending before the run is done", () => {
	test("is reported if the agent's own in-memory host is closed with it", async () => {
		const { agent, session, warnings } = make(() => "done");
		const run = await session.send("go");
		await agent
			.session("read")
			.send("go")
			.then((read) => read.result());
		await agent.close();
		expect(warnings).toMatchObject([
			{ code: "runs_lost", data: { runs: [{ sessionKey: "s", runId: run.runId }] } },
		]);
	});

	test("is not reported if the host stays", async () => {
		const host = memoryHost();
		const { agent, session, codes } = make(() => "done", { host });
		await session.send("go");
		await agent.close();
		expect(codes()).toEqual([]);
		const next = new Agent({ model: scriptedModel(["done"]), host });
		for await (const run of next.recover()) expect((await run.result()).text).toBe("done");
		expect((await next.session("s").state()).messages.at(-1)?.text).toBe("done");
		await next.close();
	});

	const script = (host: string): string => `
		import { scriptedModel } from "@holdfast/testing";
		import { Agent } from "holdfast";
		import { sqliteHost } from "holdfast/sqlite";
		const agent = new Agent({ model: scriptedModel(["done"]), ${host} });
		await agent.session("s").send("go");
		process.exit(0);
	`;
	const run = (host: string): { stderr: string; status: number | null } =>
		spawnSync(
			process.execPath,
			["--conditions=holdfast-source", "--input-type=module", "--eval", script(host)],
			{ encoding: "utf8", cwd: join(import.meta.dirname, "../../../..") },
		);

	test("is reported by a script that ends with its memory", () => {
		const { stderr, status } = run("");
		expect(status).toBe(0);
		expect(stderr).toMatch(/\[runs_lost\].*session "s"/s);
	});

	test("loses nothing in a script with a durable host", async () => {
		const path = join(temporaryFolder(), "s.db");
		const { stderr, status } = run(`host: sqliteHost(${JSON.stringify(path)})`);
		expect(status).toBe(0);
		expect(stderr).not.toContain("runs_lost");
		const host = sqliteHost(path);
		const next = new Agent({ model: scriptedModel(["done"]), host });
		for await (const each of next.recover()) expect((await each.result()).text).toBe("done");
		expect((await next.session("s").state()).messages.map(({ text }) => text)).toEqual(["go", "done"]);
		await next.close();
		await host.close();
	});
});
