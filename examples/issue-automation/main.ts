// Starts the tracker, runs the agent, and prints its steps and the requests that the tracker received.
import { issueAgent } from "./agent.ts";
import { standInModel } from "./stand-in-model.ts";
import { startTracker } from "./tracker.ts";

const tracker = await startTracker();
const allowShell = !process.argv.includes("--without-shell");
const agent = issueAgent({ tracker, model: standInModel, allowShell });
const { actions = [], result, error } = await agent.runOnce();
for (const { type, toolId, error: why } of actions)
	console.log(`${(why?.code ?? "done").padEnd(14)} ${toolId ?? type}`);
console.log(error === undefined ? result : `${error.code}: ${error.message}`);
for (const { title } of tracker.issues.values())
	console.log(`Issue after ${tracker.requests()} requests: ${title}`);
await agent.stop();
tracker.close();
