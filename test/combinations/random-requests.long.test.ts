// Random requests to a session, many at once: of an agent whose script and workflow wait for answers, and of a workflow
// with a child. Every request settles or is refused with a code, and in the end nothing is left open.
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createSandbox } from "@holdfast/sandbox";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, isHoldfastError, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { Agent, type Host, memoryHost, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { type Workflow, workflow } from "holdfast/workflow";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../shared/temporary-folder.fixture.ts";

const sandbox = createSandbox({ workers: 1 });
afterAll(() => sandbox.close());

interface Numbered {
	readonly n: number;
}

interface Parts {
	readonly clerk: Agent;
	readonly order: Workflow<Numbered>;
	/** Under which keys the tool ran. */
	readonly keys: readonly string[];
}

const script = "return Promise.all([tools.act({ n: 1 }), tools.act({ n: 2 })]);";

function partsOn(host: Host, needsApproval: boolean): Parts {
	const keys: string[] = [];
	const act = tool<Numbered>({
		name: "act",
		description: "Acts.",
		parameters: { type: "object", properties: { n: { type: "number" } } },
		retryPolicy: "idempotent",
		needsApproval,
		async run({ n }, { idempotencyKey = "" }) {
			await pause(n % 5);
			keys.push(idempotencyKey);
			return n;
		},
	});
	const check = workflow({ name: "check", host, tools: [act] }, async (flow, { n }: Numbered) => {
		await flow.sleep(3);
		return [await flow.tool(act, { n }), await flow.approve("check", { n })];
	});
	const order = workflow(
		{ name: "order", host, tools: [act], workflows: [check] },
		async (flow, { n }: Numbered) => {
			await flow.step("reserve", () => pause(n % 4, n), { undo: () => {} });
			await Promise.race([flow.event("go"), flow.sleep(30)]);
			await Promise.all([flow.child(check, { n }), flow.ask("What?"), flow.tool(act, { n: n + 1 })]);
			if (n % 7 === 3) throw new Error("refused");
			return n % 5 === 1 ? flow.continueAsNew({ n: n + 1 }) : n;
		},
	);
	const model = scriptedModel(({ messages }) => {
		const from = messages.findLastIndex((message) => message instanceof UserMessage);
		const said = messages.slice(from).filter((message) => message instanceof AssistantMessage).length;
		if (said > 1) return "done";
		if (said === 1) return { toolCalls: [{ name: "act", arguments: { n: 3 } }] };
		return {
			toolCalls: [
				{ name: "run_code", arguments: { code: script } },
				{ name: "delegate_to_order", arguments: { prompt: JSON.stringify({ n: 2 }) } },
			],
		};
	});
	const tools = [codeMode({ tools: [act], sandbox }), act];
	const clerk = new Agent({ name: "clerk", host, model, tools, subagents: [order.agent] });
	return { clerk, order, keys };
}

const requests = {
	send: async (agent, n) => (await agent.session("s").send(inputOf(n))).detach(),
	steer: async (agent, n) => (await agent.session("s").steer(inputOf(n))).detach(),
	signal: (_, __, { order }) => order.session("s").signal("go"),
	stop: (agent) => agent.session("s").stop(),
	interrupt: async (agent) => agent.session("s").interrupt(),
	answer: (agent, n) => answer(agent, n),
	resume: async (agent) => (await agent.session("s").resume())?.detach(),
	fork: (agent, n) => agent.session("s").fork(`fork ${n % 3}`),
	async edit(agent, n) {
		const [first] = (await agent.session("s").state()).messages;
		const message = new UserMessage(inputOf(n), { id: first?.id ?? "none" });
		await agent.session("s").edit({ kind: "update", message });
	},
	overlay: async (agent) => agent.session("s").overlay("aside"),
	kill: (agent) => agent.session("s").kill(),
	delete: (agent) => agent.session("s").delete(),
	state: (agent) => agent.session("s").state(),
	async recover(agent) {
		for await (const run of agent.recover()) run.detach();
	},
} satisfies Readonly<Record<string, (agent: Agent, n: number, parts: Parts) => Promise<unknown>>>;

const inputOf = (n: number): string => JSON.stringify({ n });

/** Answers one of the calls that wait. */
async function answer(agent: Agent, n: number): Promise<void> {
	const calls = await agent.session("s").pending();
	const call = calls[n % Math.max(1, calls.length)];
	if (call === undefined) return;
	const said = call.awaits === "approval" ? { approved: n % 4 > 0 } : { output: "this" };
	(await agent.session("s").answer([{ toolCallId: call.toolCallId, ...said }])).detach();
}

/** Codes with which a request may be refused. */
const refusals: ReadonlySet<string> = new Set([
	...["session_busy", "session_killed", "session_exists", "fork_unsettled", "workflow_not_running"],
	...["pending_tool_calls", "no_pending_tool_calls", "unknown_tool_call_id", "tool_call_settled"],
	...["message_not_found", "duplicate_tool_result", "tool_result_conflict"],
]);

function ifRefused(error: unknown): void {
	if (!isHoldfastError(error) || !refusals.has(error.code)) throw error;
}

/** Answers all that waits until nothing is open. */
async function end(agent: Agent, host: Host): Promise<void> {
	const isOver = async (): Promise<boolean> => {
		await answer(agent, 1).catch(ifRefused);
		const inbox = await host.journal.inbox("s");
		const isWaiting = inbox.some(({ kind }) => kind === "message" || kind === "steer");
		const open = (await host.journal.list()).filter(({ openRunId }) => openRunId !== undefined);
		if (open.length === 0 && isWaiting) (await agent.session("s").resume())?.detach();
		return open.length === 0 && !isWaiting;
	};
	await expect.poll(isOver, { interval: 5 }).toBe(true);
}

const request = fc.record({
	name: fc.constantFrom(...(Object.keys(requests) as (keyof typeof requests)[])),
	n: fc.nat(20),
	/** Milliseconds until the next one. */
	pause: fc.oneof(fc.constant(0), fc.nat(15)),
});

test.each([
	["memory", () => memoryHost()],
	["SQLite", () => sqliteHost(join(temporaryFolder(), "holdfast.db"))],
])("random requests at once leave nothing open, in %s", async (_, open) => {
	let ran = 0;
	const worlds = fc.asyncProperty(
		fc.array(request, { minLength: 5, maxLength: 25 }),
		fc.constantFrom("clerk", "order"),
		fc.boolean(),
		async (asked, whose, needsApproval) => {
			const host = open();
			const parts = partsOn(host, needsApproval);
			const agent = whose === "clerk" ? parts.clerk : parts.order.agent;
			const settling: Promise<unknown>[] = [];
			for (const { name, n, pause: ms } of asked) {
				settling.push(requests[name](agent, n, parts).catch(ifRefused));
				if (ms > 0) await pause(ms);
			}
			await Promise.all(settling);
			await end(agent, host);
			expect(new Set(parts.keys).size).toBe(parts.keys.length);
			ran += parts.keys.length;
			await agent.close();
			await host.close?.();
		},
	);
	await fc.assert(worlds, { numRuns: 150 });
	expect(ran).toBeGreaterThan(150);
});
