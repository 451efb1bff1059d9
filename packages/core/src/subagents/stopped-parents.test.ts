// Sub-agents that wait when the run that waits with them ends: they end with it, whenever it is stopped.
import { scriptedModel } from "@holdfast/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { type Host, type Lease, memoryHost } from "../host/index.ts";
import type { AgentRun } from "../sessions/index.ts";
import { tool } from "../tools/index.ts";
import { workflow } from "../workflow/workflow.ts";

const parameters = { type: "object", properties: {} } as const;
const act = tool({ name: "act", description: "Acts.", parameters, needsApproval: true, run: () => "acted" });
const locate = tool({ name: "locate", description: "Locates.", parameters });

/** The keys of all sessions with an open run. */
async function open({ journal }: Host): Promise<readonly string[]> {
	return (await journal.list()).filter(({ openRunId }) => openRunId !== undefined).map(({ key }) => key);
}

/** An agent that delegates to one which waits for approval, and waits itself for a client. */
function delegating(host: Host): Agent {
	const helper = new Agent({
		name: "helper",
		description: "Helps.",
		model: scriptedModel(() => ({ toolCalls: [{ name: "act" }] })),
		tools: [act],
	});
	const toolCalls = [{ name: "delegate_to_helper", arguments: { prompt: "go" } }, { name: "locate" }];
	return new Agent({
		host,
		model: scriptedModel(() => ({ toolCalls })),
		tools: [locate],
		subagents: [helper],
	});
}

/** A workflow that waits for its child, which waits for approval, and for an event. */
function parentFlow(host: Host): Agent {
	const child = workflow({ name: "child" }, (flow) => flow.approve("act"));
	const parent = workflow({ name: "parent", host, workflows: [child] }, (flow) =>
		Promise.all([flow.child(child, null), flow.event("go"), flow.ask("Where?")]),
	);
	return parent.agent;
}

/** A host that calls `interrupt` each time the session "s" is about to record that its run waits. */
function beforeWaits(host: Host, interrupt: () => void): Host {
	const { journal } = host;
	const acquire: typeof journal.acquire = async (key, options) => {
		const acquired = await journal.acquire(key, options);
		if (!acquired.ok || key !== "s") return acquired;
		const append: typeof acquired.lease.append = (batch) => {
			if (batch.facts.some(({ kind }) => kind === "waiting")) interrupt();
			return acquired.lease.append(batch);
		};
		const get = (lease: Lease, name: string | symbol): unknown => {
			const value = Reflect.get(lease, name, lease) as unknown;
			return name === "append" ? append : typeof value === "function" ? value.bind(lease) : value;
		};
		return { ok: true, lease: new Proxy(acquired.lease, { get }) };
	};
	return { ...host, journal: { ...journal, acquire } };
}

/** Stops the run at one of many moments. */
async function stopped(run: AgentRun, at: number): Promise<void> {
	for (let turn = 0; turn < at; turn++) await Promise.resolve();
	run.interrupt();
	expect(await run.result()).toMatchObject({ outcome: "aborted" });
}

describe.each([
	["an agent", delegating, "go"],
	["a workflow", parentFlow, "null"],
])("%s that is stopped leaves no sub-agent behind", (_, make, input) => {
	let host: Host;
	let agent: Agent;
	beforeEach(() => {
		host = memoryHost();
		agent = make(host);
	});
	afterEach(() => agent.close());

	test.each(Array.from({ length: 10 }, (__, at) => at))("%i turns after an answer", async (at) => {
		const session = agent.session("s");
		await (await session.send(input)).result();
		expect(await open(host)).toHaveLength(2);
		const call = (await session.pending()).find(({ awaits }) => awaits === "result");
		await stopped(await session.answer([{ toolCallId: call?.toolCallId ?? "", output: "here" }]), at);
		await expect.poll(() => open(host)).toEqual([]);
	});

	test("at the moment when it begins to wait", async () => {
		const stopping = make(beforeWaits(host, () => run?.interrupt()));
		const run = (await stopping.session("s").send(input)) as AgentRun;
		expect(await run.result()).toMatchObject({ outcome: "aborted" });
		await expect.poll(() => open(host)).toEqual([]);
		expect(JSON.stringify(await host.journal.read("s"))).not.toContain("its process died");
		await stopping.close();
	});
});
