// A process with an agent that writes one script. It is killed when a tool runs for the given time, or works to the end.
import { appendFileSync, writeSync } from "node:fs";
import { scriptedModel } from "@holdfast/testing";
import { Agent, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { codeMode } from "./code-mode.ts";

interface Plan {
	readonly path: string;
	readonly effects: string;
	/** The call, counted from 1, in which the process kills itself; 0: in none. */
	readonly dieIn: number;
	readonly begins: boolean;
}

const { path, effects, dieIn, begins } = JSON.parse(process.argv[2] ?? "{}") as Plan;
let calls = 0;
const post = tool({
	name: "post",
	description: "Posts a letter.",
	parameters: { type: "object", properties: { to: { type: "string" }, mark: {} }, required: ["to"] },
	retryPolicy: "idempotent",
	run: ({ to, mark }: { to: string; mark: unknown }, context) => {
		appendFileSync(effects, `${JSON.stringify({ to, mark, key: context.idempotencyKey })}\n`);
		if (++calls === dieIn) process.kill(process.pid, "SIGKILL");
		return `posted to ${to} at ${to.length}`;
	},
});
const code = `
const seen = [];
const mark = [Math.random(), Date.now()];
seen.push(await tools.post({ to: "one", mark }));
const names = ["two", "three", "four"];
seen.push(await Promise.all(names.map((to) => tools.post({ to, mark }))));
for (const to of ["five", "six"]) seen.push((await tools.post({ to, mark })).length);
return seen;`;
const host = sqliteHost(path);
const agent = new Agent({
	model: scriptedModel((request) =>
		request.messages.length > 1 ? "Done." : { toolCalls: [{ name: "run_code", arguments: { code } }] },
	),
	tools: [codeMode({ tools: [post] })],
	host,
});
if (begins) await (await agent.session("s").send("Post.")).result();
else await agent.recover();
const { messages } = await agent.session("s").state();
writeSync(1, JSON.stringify(messages));
await agent.close();
await host.close();
