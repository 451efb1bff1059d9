// Agents with sessions in Postgres behave the same as on any host.
import { fork } from "node:child_process";
import { scriptedModel } from "@holdfast/testing";
import { Agent, type AgentOptions, followSession, type RunEvent, tool } from "holdfast";
import { drain } from "holdfast/compat";
import { expect, onTestFinished, test } from "vitest";
import { type PostgresHost, postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

async function newHost(schema: string): Promise<PostgresHost> {
	const { url } = await testServer();
	const host = postgresHost({ connectionString: url, schema, leaseTtlMs: 120_000 });
	onTestFinished(() => host.close());
	return host;
}

function agentOn(host: PostgresHost, options: AgentOptions): Agent {
	const agent = new Agent({ ...options, host });
	onTestFinished(() => agent.close());
	return agent;
}

const echo = scriptedModel(({ messages }) => `re: ${(messages.at(-1) as { text?: string }).text}`);

test("another process's agent continues a session with all earlier messages", async () => {
	const { schema } = await testServer();
	const name = schema();
	const one = agentOn(await newHost(name), { model: echo });
	await drain(await one.session("ticket").send("one"));
	const seen: number[] = [];
	const model = scriptedModel(({ messages }) => {
		seen.push(messages.length);
		return "two";
	});
	const two = agentOn(await newHost(name), { model });
	const { outcome } = await (await two.session("ticket").send("more")).result();
	expect([outcome, seen]).toEqual(["completed", [3]]);
});

test("the result of a `system` function is recorded: a run that continues elsewhere is sent the same text", async () => {
	const { schema } = await testServer();
	const name = schema();
	const replies = (): ReturnType<typeof scriptedModel> =>
		scriptedModel(({ messages }) =>
			messages.at(-1)?.type === "user" ? { toolCalls: [{ name: "ask" }] } : "done",
		);
	const ask = { name: "ask", description: "Asks.", parameters: { type: "object" as const } };
	const before = replies();
	const one = agentOn(await newHost(name), { model: before, tools: [ask], system: () => "First." });
	await (await one.session("s").send("go")).result();
	await one.close();
	const model = replies();
	const host = await newHost(name);
	const two = agentOn(host, { model, tools: [ask], system: () => "Second." });
	const [pending] = await two.session("s").pending();
	await (
		await two.session("s").answer([{ toolCallId: pending?.toolCallId as string, output: "yes" }])
	).result();
	expect([...before.requests, ...model.requests].map(({ system }) => system)).toEqual(["First.", "First."]);
	const next = await two.session("s").send("on");
	await next.result();
	expect(model.requests.at(-1)?.system).toBe("Second.");
});

test.each([true, false])(
	"a call that waits while another runs is answered from another process: approved %s",
	async (approved) => {
		const { schema } = await testServer();
		const name = schema();
		const slow = Promise.withResolvers<string>();
		const ran: string[] = [];
		const parameters = { type: "object", properties: {} } as const;
		const toolsOf = (process: string) => [
			tool({
				name: "remove",
				description: "Removes.",
				parameters,
				needsApproval: true,
				run: () => void ran.push(process),
			}),
			tool({ name: "slow", description: "Takes its time.", parameters, run: () => slow.promise }),
		];
		const reply = {
			toolCalls: [
				{ name: "remove", id: "r" },
				{ name: "slow", id: "s" },
			],
		};
		const one = agentOn(await newHost(name), {
			model: scriptedModel([reply, "done"]),
			tools: toolsOf("one"),
		});
		const two = agentOn(await newHost(name), { model: echo, tools: toolsOf("two") });
		const run = await one.session("s").send("go");
		const result = run.result();
		const session = two.session("s");
		await expect.poll(() => session.pending()).toMatchObject([{ toolCallId: "r", awaits: "approval" }]);
		await session.answer([{ toolCallId: "r", approved }]);
		expect(await session.pending()).toEqual([]);
		slow.resolve("slowly");
		expect(await result).toMatchObject({ outcome: "completed", text: "done" });
		expect(ran).toEqual(approved ? ["one"] : []);
	},
);

test("the run of a killed process is resumed by another, and its watchers miss nothing", async () => {
	const server = await testServer();
	const schema = server.schema();
	const child = fork(new URL("./agent-process.fixture.ts", import.meta.url), [server.url, schema], {
		execArgv: ["--conditions=holdfast-source", "--no-warnings"],
	});
	const gone = new Promise((resolve) => child.once("exit", resolve));
	onTestFinished(() => void child.kill("SIGKILL"));
	await new Promise((resolve) => child.once("message", resolve));

	const watching = await newHost(schema);
	const ids: string[] = [];
	const events: RunEvent[] = [];
	const followed = (async () => {
		for await (const { id, event } of followSession(watching, "s", { until: "complete" })) {
			if (id !== undefined) ids.push(id);
			events.push(event as RunEvent);
		}
	})();
	await expect.poll(() => events.some(({ type }) => type === "tool_start")).toBe(true);
	child.kill("SIGKILL");
	await gone;

	const look = tool({ name: "look", description: "Looks.", retryPolicy: "pure", run: () => "all well" });
	const second = agentOn(await newHost(schema), {
		model: scriptedModel(() => "All is well."),
		tools: [look],
		keepDeltasMs: 1,
	});
	const ends: string[] = [];
	for await (const run of second.work({ until: "done" })) ends.push((await run.result()).outcome);
	await followed;
	expect(ends).toEqual(["completed"]);
	expect(new Set(ids).size).toBe(ids.length);
	const whole: string[] = [];
	for await (const { id } of followSession(watching, "s")) if (id !== undefined) whole.push(id);
	expect(ids).toEqual(whole);
	expect(events.filter(({ type }) => type === "run_end")).toHaveLength(1);
});

test("an answer to a call of a process that is killed afterwards is used by the process that resumes the run", async () => {
	const server = await testServer();
	const schema = server.schema();
	const child = fork(new URL("./agent-process.fixture.ts", import.meta.url), [server.url, schema, "asks"], {
		execArgv: ["--conditions=holdfast-source", "--no-warnings"],
	});
	const gone = new Promise((resolve) => child.once("exit", resolve));
	onTestFinished(() => void child.kill("SIGKILL"));
	await new Promise((resolve) => child.once("message", resolve));
	const ran: string[] = [];
	const second = agentOn(await newHost(schema), {
		model: scriptedModel(() => "All is well."),
		tools: [
			tool({ name: "look", description: "Looks.", retryPolicy: "pure", run: () => "all well" }),
			tool({
				name: "remove",
				description: "Removes.",
				needsApproval: true,
				run: () => void ran.push("removed"),
			}),
		],
	});
	const session = second.session("s");
	await expect.poll(() => session.pending()).toMatchObject([{ toolCallId: "r" }]);
	await session.answer([{ toolCallId: "r", approved: true }]);
	child.kill("SIGKILL");
	await gone;
	const ends: string[] = [];
	for await (const run of second.work({ until: "done" })) ends.push((await run.result()).outcome);
	expect(ends).toEqual(["completed"]);
	expect(ran).toEqual(["removed"]);
});

test("many turns of many sessions by several agents run once each", async () => {
	const { schema } = await testServer();
	const name = schema();
	const hosts = await Promise.all([0, 1, 2].map(() => newHost(name)));
	const agents = hosts.map((host) => agentOn(host, { model: echo }));
	const keys = Array.from({ length: 10 }, (_, at) => `s${at}`);
	const turns = keys.flatMap((key) => agents.map((agent, at) => ({ key, agent, text: `${key} ${at}` })));
	const answers = await Promise.all(
		turns.map(async ({ key, agent, text }) => (await (await agent.session(key).send(text)).result()).text),
	);
	expect(answers).toEqual(turns.map(({ text }) => `re: ${text}`));
	for (const key of keys) {
		const entries = await hosts[0]?.journal.read(key);
		expect(entries?.filter(({ fact }) => fact.kind === "run.ended")).toHaveLength(agents.length);
	}
});

test("background work, timers and values are durable there", async () => {
	const { schema } = await testServer();
	const host = await newHost(schema());
	const helper = new Agent({ name: "helper", description: "Helps.", model: scriptedModel(() => "done") });
	const call = { name: "delegate_to_helper", arguments: { description: "d", prompt: "p", background: true } };
	const model = scriptedModel(({ messages }) => (messages.length === 1 ? { toolCalls: [call] } : "ok"));
	const agent = agentOn(host, { model, subagents: [helper] } as AgentOptions);
	const { outcome } = await (await agent.session("parent").send("go")).result();
	expect(outcome).toBe("completed");
	await expect.poll(async () => (await host.journal.list({ state: "open" })).length).toBe(0);
	expect((await host.journal.list()).length).toBe(2);
	await agent.session("parent").delete();
	expect(await host.journal.list()).toEqual([]);
});
