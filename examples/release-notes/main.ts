// Starts the site, runs the agent, and prints its steps and its result.
import { releaseNotesAgent } from "./agent.ts";
import { startSite } from "./site.ts";
import { standInModel } from "./stand-in-model.ts";

const site = await startSite();
const agent = releaseNotesAgent(site.host, standInModel);
const { actions = [], result, error } = await agent.runOnce();
for (const { type, toolId, ok } of actions) console.log(`${ok ? "done  " : "failed"} ${toolId ?? type}`);
console.log(error === undefined ? result : `${error.code}: ${error.message}`);
await agent.stop();
site.close();
