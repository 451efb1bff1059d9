// Tools of `createSubAgentTool` in sessions: their work has a session of its own.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { createSubAgentTool } from "../agent/create-sub-agent-tool.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import type { AnyTool } from "../tools/types.ts";
import { calls } from "./delegate.fixture.ts";

const parameters = { type: "object", properties: { query: { type: "string" } } } as const;

test("an approval within the sub-agent is an approval of the session, and its trace stays in the state", async () => {
	const ran: unknown[] = [];
	const remove: AnyTool = {
		name: "remove",
		description: "Removes.",
		parameters,
		needsApproval: true,
		run: (input: unknown) => {
			ran.push(input);
			return "removed";
		},
	};
	const worker = new Agent({
		model: scriptedModel([calls(["remove", { query: "x" }]), "I removed x."]),
		tools: [remove],
	});
	const clean = createSubAgentTool({ agent: worker, name: "clean", description: "Cleans.", parameters });
	const agent = new Agent({
		model: scriptedModel([calls(["clean", { query: "all" }]), "Clean."]),
		tools: [clean],
	});
	const session = agent.session("s");
	const run = await session.send("go");
	expect(await run.result()).toMatchObject({
		outcome: "waiting",
		pending: [{ toolName: "remove", path: [{ agent: "tool clean" }] }],
	});
	const [call] = await session.pending();
	const next = await session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
	const { state, ...result } = await next.result();
	expect(result).toMatchObject({ outcome: "completed", text: "Clean." });
	expect(ran).toEqual([{ query: "x" }]);
	expect(state.subagentTraces).toMatchObject([
		{ subagentType: "clean", prompt: "all", success: true, result: "I removed x.", toolExecutions: [{}] },
	]);
	await agent.close();
});

test("a crash within the sub-agent repeats none of its effects", async () => {
	const journal = memoryJournal();
	const keys: string[] = [];
	const build = (script: Parameters<typeof scriptedModel>[0], outer: Parameters<typeof scriptedModel>[0]) => {
		const pay: AnyTool = {
			name: "pay",
			description: "Pays.",
			parameters,
			run: (_: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
				keys.push(idempotencyKey);
				return "paid";
			},
		};
		const worker = new Agent({ model: scriptedModel(script), tools: [pay] });
		const order = createSubAgentTool({
			agent: worker,
			name: "order",
			description: "Orders.",
			parameters,
			retryPolicy: "idempotent",
		});
		return new Agent({ model: scriptedModel(outer), tools: [order], host: journalHost(journal) });
	};
	const never = new Promise<never>(() => {});
	const first = build(
		(_, call) => (call === 0 ? calls(["pay", { query: "1" }]) : never),
		[calls(["order", { query: "book" }])],
	);
	const run = await first.session("s").send("go");
	void run.result();
	await expect.poll(() => keys).toHaveLength(1);
	await expect.poll(() => journal.list().some(({ seq, key }) => key !== "s" && seq >= 5)).toBe(true);
	await first.close();
	const second = build(["Ordered."], ["Done."]);
	const resumed = await second.session("s").resume();
	expect(await resumed?.result()).toMatchObject({ outcome: "completed", text: "Done." });
	expect(keys).toHaveLength(1);
	expect(keys[0]).toMatch(/^.+\.1\.0\.1\.0$/);
	await second.close();
});
