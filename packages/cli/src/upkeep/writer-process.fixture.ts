/** A process whose agent works in five sessions, turn by turn, until it is stopped; then it reports the results. */

import { setTimeout } from "node:timers/promises";
import { scriptedModel } from "@holdfast/testing";
import { Agent } from "holdfast";
import { drain } from "holdfast/compat";
import { sqliteHost } from "holdfast/sqlite";

const [path = "", name = ""] = process.argv.slice(2);
const host = sqliteHost(path);
const model = scriptedModel(({ messages }) => `re: ${(messages.at(-1) as { text?: string }).text}`);
const agent = new Agent({ model, host });
const report = { turns: 0, wrong: [] as string[], slowest: 0 };
let stopped = false;
process.on("message", () => {
	stopped = true;
});
process.on("disconnect", () => process.exit());

while (!stopped) {
	const asks = `turn ${report.turns}`;
	const began = performance.now();
	const run = await agent.session(`${name}-${report.turns % 5}`).send(asks);
	const { outcome, text } = await drain(run);
	report.slowest = Math.max(report.slowest, performance.now() - began);
	if (outcome !== "completed" || text !== `re: ${asks}`) report.wrong.push(`${asks}: ${outcome} ${text}`);
	if (++report.turns === 3) process.send?.("writing");
	// Concurrent users of the file need a processor too.
	await setTimeout(1);
}
await agent.close();
await host.close();
process.send?.(report);
