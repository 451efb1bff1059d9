// An agent whose tool requires approval.
import { scriptedModel } from "@holdfast/testing";
import { Agent, tool } from "holdfast";

const remove = tool({
	name: "remove",
	description: "Removes.",
	parameters: { type: "object" },
	needsApproval: true,
	run: () => "removed",
});

export default new Agent({
	model: scriptedModel(({ messages }) =>
		messages.at(-1)?.type === "tool_result" ? "It is done." : { toolCalls: [{ name: "remove" }] },
	),
	tools: [remove],
});
