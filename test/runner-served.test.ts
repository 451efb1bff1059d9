// Agents that plan, act and reflect, served: their sessions are begun, watched, approved and stopped over HTTP like any other,
// and what they come to is said there.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
	type AgentConfig,
	type AuditRecord,
	type PlannerState,
	planActReflect,
	RunnerAgent,
	type RunnerEvent,
	type RunnerStep,
	readResult,
	stepsPlanner,
} from "@holdfast/runner";
import { createServer, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { type AgentOptions, agent, type Host, memoryHost, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, expect, test } from "vitest";

const closing: (() => Promise<unknown> | undefined)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0).toReversed()) await close();
});

interface Streamed {
	readonly type: string;
	readonly [member: string]: unknown;
}

/** A server of one agent, and the ways to use it. */
async function serve(host: Host, given: AgentOptions) {
	const service = sessionService({ host, agent: given });
	const server = createServer({ service });
	const { url } = await server.listen({ port: 0 });
	closing.push(() => server.close({ drainMs: 0 }));
	const post = (path: string, body: unknown): Promise<Response> =>
		fetch(`${url}/api/agent/${path}`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify(body),
		});
	const read = (response: Response): Promise<readonly Streamed[]> => response.text().then(eventsOf);
	return {
		service,
		post,
		read,
		execute: (sessionId: string, text: string): Promise<Response> =>
			post("execute", { sessionId, context: {}, input: { role: "user", content: text } }),
		session: async (id: string) =>
			(await (await fetch(`${url}/api/agent/session/${id}`)).json()) as {
				status: string;
				messages: { role: string; content?: unknown }[];
				pendingToolCalls?: { id: string; name: string }[];
			},
		watch: async (id: string) => read(await fetch(`${url}/api/agent/session/${id}/events`)),
	};
}

function eventsOf(text: string): readonly Streamed[] {
	return [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data as string));
}

const finish: RunnerStep = { type: "finish", message: "All is paid." };
const pay = (input: unknown): RunnerStep => ({ type: "tool", toolId: "pay", input });

function clerk(host: Host, steps: readonly RunnerStep[], more: Partial<AgentConfig> = {}) {
	const paid: unknown[] = [];
	const states: PlannerState[] = [];
	const planner = stepsPlanner((state) => {
		states.push({ ...state, transcript: state.transcript });
		return steps[state.step - 1] ?? finish;
	});
	const made = new RunnerAgent({
		id: "clerk",
		taskPrompt: "Pay.",
		modelProviders: [],
		tools: [{ id: "pay", run: (input) => paid.push(input) }],
		planner,
		host,
		...more,
	});
	closing.push(() => made.stop());
	return { made, paid, states };
}

function database(): { open(): ReturnType<typeof sqliteHost> } {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-served-"));
	closing.push(async () => rmSync(folder, { recursive: true }));
	return {
		open() {
			const host = sqliteHost(join(folder, "sessions.db"));
			closing.push(async () => host.close());
			return host;
		},
	};
}

test("a run over HTTP reports its result, to its caller and to later readers", async () => {
	const host = memoryHost();
	const { made, paid, states } = clerk(host, [pay(1)]);
	const { execute, read, session, watch } = await serve(host, { ...made.engine });
	const events = await read(await execute("s", "Pay the bill."));
	expect(events.at(-1)).toMatchObject({ type: "execute_complete", status: "completed" });
	expect(JSON.stringify(events)).toContain("All is paid.");
	expect(paid).toEqual([1]);
	expect(states[0]?.task).toBe("Pay the bill.");
	const { status, messages } = await session("s");
	expect(status).toBe("completed");
	expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
	expect(JSON.stringify(messages.at(-1))).toContain("All is paid.");
	expect(JSON.stringify(await watch("s"))).toContain("All is paid.");
});

test("the text of a run is its result, without secrets [RUN-129]", async () => {
	const finishing: RunnerStep = { type: "finish", input: { sum: 3, by: "horse-battery" } };
	const { made } = clerk(memoryHost(), [finishing], { safety: { secrets: ["horse-battery"] } });
	const run = await made.engine.session("s").send("Add.");
	const text = '{"sum":3,"by":"[REDACTED:secret]"}';
	expect(await run.result()).toMatchObject({ outcome: "completed", text, cost: 0 });
	const mute = clerk(memoryHost(), [{ type: "finish" }]).made;
	expect((await (await mute.engine.session("s").send("Add.")).result()).text).toBe("");
});

const asking: Partial<AgentConfig> = {
	safety: {
		policyEngine: {
			// Without a target the step calls no tool, and there is nothing to ask a person about.
			check: ({ point, target }) =>
				point === "planner-output" && target !== undefined
					? { action: "ask", rule: "large-sums" }
					: { action: "allow" },
		},
	},
};

test("a step that policy leaves to a person waits for the approval, also across a restart of the server", async () => {
	const { open } = database();
	const first = open();
	const before = clerk(first, [pay(100)], asking);
	const one = await serve(first, { ...before.made.engine });
	const began = await one.read(await one.execute("s", "Pay."));
	expect(began.at(-1)).toMatchObject({ type: "execute_complete" });
	const [call] = (await one.session("s")).pendingToolCalls ?? [];
	expect(call?.name).toBe("pay");
	expect(before.paid).toEqual([]);

	const second = open();
	const events: RunnerEvent[] = [];
	const after = clerk(second, [pay(100)], {
		...asking,
		eventBus: { emit: (event) => void events.push(event) },
	});
	const two = await serve(second, { ...after.made.engine });
	const answered = await two.read(await two.post("session/s/approve", { toolCallId: call?.id }));
	expect(answered.at(-1)).toMatchObject({ type: "execute_complete", status: "completed" });
	expect(after.paid).toEqual([100]);
	expect(after.states.map(({ step }) => step)).toEqual([2]);
	expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
	expect(events.map(({ type }) => type)).toEqual([
		...["run.start", "run.begin", "plan", "policy", "run.resume", "tool.call", "tool.result", "reflect"],
		...["memory", "step.start", "plan", "run.end"],
	]);
	expect(events.find(({ type }) => type === "tool.result")?.data).toMatchObject({ step: 1, toolId: "pay" });
	const [head] = await second.journal.list();
	const result = await readResult(second, head?.key as string);
	expect(result).toMatchObject({ success: true, result: "All is paid.", steps: 2 });
	const entries = await second.journal.read(head?.key as string);
	const audit = entries.findIndex(
		({ fact }) => fact.kind === "note" && (fact.value as AuditRecord).rule === "large-sums",
	);
	const started = entries.findIndex(({ fact }) => fact.kind === "tool.started");
	expect(audit).toBeGreaterThan(0);
	expect(audit).toBeLessThan(started);
});

test("a denied step does not run, and the planner sees that", async () => {
	const host = memoryHost();
	const { made, paid, states } = clerk(host, [pay(100)], asking);
	const { execute, read, session, post } = await serve(host, { ...made.engine });
	await read(await execute("s", "Pay."));
	const [call] = (await session("s")).pendingToolCalls ?? [];
	await read(await post("session/s/deny", { toolCallId: call?.id, reason: "Too dear." }));
	expect(paid).toEqual([]);
	expect(states.at(-1)?.lastResult).toMatchObject({ ok: false, error: { code: "TOOL_NOT_RUN" } });
});

test("a stop ends the run: nothing is planned or run afterwards", async () => {
	const host = memoryHost();
	const { promise: planning, resolve } = Promise.withResolvers<void>();
	const { made, paid } = clerk(host, [], {
		planner: {
			plan(_, { signal }) {
				resolve();
				return new Promise((_done, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
			},
		},
	});
	const { execute, post, read, session } = await serve(host, { ...made.engine });
	const streaming = execute("s", "Pay.").then(read);
	await planning;
	expect(await (await post("session/s/stop", {})).json()).toEqual({ sessionId: "s", stopped: true });
	expect((await streaming).at(-1)).toMatchObject({ type: "execute_complete", status: "aborted" });
	expect(paid).toEqual([]);
	expect((await session("s")).messages.at(-1)?.role).toBe("aborted");
});

test("a steer reaches the next plan, also one that arrives when all work seemed done", async () => {
	const host = memoryHost();
	const { promise: planned, resolve: reached } = Promise.withResolvers<void>();
	const { promise: said, resolve: resume } = Promise.withResolvers<void>();
	const transcripts: string[] = [];
	const { made } = clerk(host, [], {
		planner: {
			async plan({ step, transcript }) {
				transcripts.push(JSON.stringify(transcript));
				if (step > 1) return finish;
				reached();
				await said;
				return { type: "finish", message: "Too early." };
			},
		},
	});
	const session = made.engine.session("s");
	const result = (await session.send("Pay.")).result();
	await planned;
	const steered = session.steer("The other one, too.");
	for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
	resume();
	expect((await result).text).toBe("All is paid.");
	await steered;
	expect(transcripts).toHaveLength(2);
	expect(transcripts[1]).toContain("The other one, too.");
});

test("planActReflect() makes any agent plan under its rules, with its own tools, in calls and in sessions [RUN-119]", async () => {
	const events: RunnerEvent[] = [];
	const ran: string[] = [];
	const add = tool({
		name: "add",
		description: "Adds.",
		parameters: { type: "object" },
		run: ({ a, b }: { a: number; b: number }) => {
			ran.push("add");
			return a + b;
		},
	} as Parameters<typeof tool>[0]);
	const drop = tool({
		name: "drop",
		description: "Drops.",
		parameters: { type: "object" },
		run: () => ran.push("drop"),
	});
	const plans: readonly RunnerStep[] = [
		{ type: "tool", toolId: "drop" },
		{ type: "tool", toolId: "add", input: { a: 1, b: 2 } },
	];
	const execution = planActReflect({
		planner: stepsPlanner(({ step, lastResult }) =>
			step <= 2 ? (plans[step - 1] as RunnerStep) : { type: "finish", input: lastResult?.output },
		),
		safety: { toolDenylist: ["drop"] },
		eventBus: { emit: (event) => void events.push(event) },
	});
	const host = memoryHost();
	const sums = agent({ model: scriptedModel([]), tools: [add, drop], execution, host });
	expect((await sums.generate("1 + 2?")).turn.response.text).toBe("3");
	const { execute, read, session } = await serve(host, { ...sums });
	expect((await read(await execute("s", "1 + 2?"))).at(-1)).toMatchObject({ status: "completed" });
	expect(JSON.stringify((await session("s")).messages.at(-1))).toContain("3");
	expect(ran).toEqual(["add", "add"]);
	const runs = Map.groupBy(events, ({ runId }) => runId);
	expect(runs.size).toBe(2);
	for (const each of runs.values()) {
		expect(each.map(({ seq }) => seq)).toEqual(each.map((_, at) => at + 1));
		expect([each[0]?.type, each.at(-1)?.type]).toEqual(["run.start", "run.end"]);
		expect(each.filter(({ type }) => type === "policy")).toHaveLength(1);
	}
	const [head] = await host.journal.list();
	const notes = (await host.journal.read(head?.key as string)).filter(({ fact }) => fact.kind === "note");
	expect(notes).toHaveLength(1);
});
