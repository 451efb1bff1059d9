// An agent in a separate process, for tests: its tool reports that it is running, and never ends. With a third argument,
// "asks", another call requires approval.
import { scriptedModel } from "@holdfast/testing";
import { Agent, tool } from "holdfast";
import { postgresHost } from "./index.ts";

const [connectionString = "", schema = "", asks] = process.argv.slice(2);
const host = postgresHost({ connectionString, schema, leaseTtlMs: 120_000 });
const look = tool({
	name: "look",
	description: "Looks.",
	retryPolicy: "pure",
	run: () => {
		process.send?.("at work");
		return new Promise<string>(() => {});
	},
});
const remove = tool({ name: "remove", description: "Removes.", needsApproval: true, run: () => "removed" });
const toolCalls = [{ name: "look" }, ...(asks === undefined ? [] : [{ name: "remove", id: "r" }])];
const model = scriptedModel([{ text: "Let me look.", toolCalls }]);
const agent = new Agent({ model, tools: [look, remove], host, keepDeltasMs: 1 });
await agent.session("s").send("hello");
