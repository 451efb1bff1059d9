/** A process whose agent works in five sessions, turn by turn, until it is told to stop; then it tells how that went. */

import { scriptedModel } from "@holdfast/testing";
import { Agent, drain } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";

const [path = "", name = ""] = process.argv.slice(2);
const host = sqliteHost(path);
const model = scriptedModel(({ messages }) => `re: ${(messages.at(-1) as { text?: string }).text}`);
const agent = new Agent({ model, host });
const told = { turns: 0, wrong: [] as string[], slowest: 0 };
let stopped = false;
process.on("message", () => {
	stopped = true;
});
process.on("disconnect", () => process.exit());

while (!stopped) {
	const asks = `turn ${told.turns}`;
	const began = performance.now();
	const run = await agent.session(`${name}-${told.turns % 5}`).send(asks);
	const { outcome, text } = await drain(run);
	told.slowest = Math.max(told.slowest, performance.now() - began);
	if (outcome !== "completed" || text !== `re: ${asks}`) told.wrong.push(`${asks}: ${outcome} ${text}`);
	if (++told.turns === 3) process.send?.("writing");
}
await agent.close();
await host.close();
process.send?.(told);
