// A process that starts a run and never ends it, for tests that kill it.
import { flushCompileCache } from "node:module";
import { scriptedModel } from "@holdfast/testing";
import { Agent } from "holdfast";
import { type PostgresHostOptions, postgresHost } from "../index.ts";

flushCompileCache();
const { key, ...options } = JSON.parse(process.argv[2] ?? "{}") as PostgresHostOptions & { key: string };
const host = postgresHost(options);
const model = scriptedModel(() => {
	process.stdout.write("asked\n");
	return { gate: new Promise(() => {}), text: "never" };
});
const agent = new Agent({ model, host });
await (await agent.session(key).send("hello")).result();
