// Tools of createSubAgentTool in the context of a session.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { agent } from "../agent/agent.ts";
import { createSubAgentTool } from "../agent/create-sub-agent-tool.ts";
import { memoryHost } from "../host/index.ts";
import { createSession, execute } from "./create-session.ts";

const asks = () =>
	scriptedModel([{ toolCalls: [{ name: "explore", id: "e", arguments: { query: "x" } }] }, "Done."]);

function explore(ran: string[]) {
	const helper = agent({
		model: scriptedModel([{ toolCalls: [{ name: "pay", id: "p", arguments: {} }] }, "Paid."]),
		tools: [
			{
				name: "pay",
				description: "Pays.",
				parameters: { type: "object", properties: {} },
				needsApproval: true,
				run: () => ran.push("pay"),
			},
		],
	});
	const parameters = { type: "object", properties: { query: { type: "string" } } } as const;
	return createSubAgentTool({ agent: helper, name: "explore", description: "Explores.", parameters });
}

test("requests of their sub-agents are shown and answered in the session, also after it is restored", async () => {
	const host = memoryHost();
	const ran: string[] = [];
	const model = asks();
	const tools = [explore(ran)];
	const session = createSession("s", { tools }, { model, host });
	const { pendingToolCalls = [] } = await execute(session, { role: "user", content: "Pay." }).result();
	expect(pendingToolCalls.map(({ name }) => name)).toEqual(["pay"]);
	expect(ran).toEqual([]);

	const restored = createSession("s", { tools }, { model, host });
	await restored.ready;
	const answers = pendingToolCalls.map(({ id }) => ({
		role: "approval" as const,
		toolCallId: id,
		approved: true,
	}));
	const { status } = await execute(restored, answers).result();
	expect([status, ran]).toEqual(["completed", ["pay"]]);
});

test("a session that is restored without them lacks only the unregistered tool", async () => {
	const host = memoryHost();
	const first = createSession("s", { tools: [explore([])] }, { model: scriptedModel(["Hello."]), host });
	await execute(first, { role: "user", content: "Hi" }).result();

	const model = asks();
	const restored = createSession("s", {}, { model, host });
	await restored.ready;
	await execute(restored, { role: "user", content: "Explore." }).result();
	expect(JSON.stringify(model.requests.at(-1))).toContain("Register it again");
});
