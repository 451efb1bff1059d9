// An agent with a tool whose results come from elsewhere.
import { scriptedModel } from "@holdfast/testing";
import { Agent, tool } from "holdfast";

const measure = tool({ name: "measure", description: "Measures.", parameters: { type: "object" } });

export default new Agent({
	model: scriptedModel([{ toolCalls: [{ name: "measure" }] }, "It is done."]),
	tools: [measure],
});
