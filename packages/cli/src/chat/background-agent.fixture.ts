// An agent that delegates to a sub-agent in the background, whose tool requires approval.
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { Agent, tool } from "holdfast";

const remove = tool({
	name: "remove",
	description: "Removes.",
	parameters: { type: "object" },
	needsApproval: true,
	run: () => "removed",
});

const worker = new Agent({
	name: "worker",
	description: "Works.",
	model: scriptedModel(({ messages }): string | ScriptedReply =>
		messages.at(-1)?.type === "tool_result" ? "It is done." : { toolCalls: [{ name: "remove" }] },
	),
	tools: [remove],
});

const delegation = { name: "delegate_to_worker", arguments: { prompt: "go", run_in_background: true } };

export default new Agent({
	model: scriptedModel([{ toolCalls: [delegation] }, "It has begun.", "It goes on.", "It is done."]),
	subagents: [worker],
});
