// What remains of the runs of a deleted session.
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { ExecutionHost } from "../execution-host/execution-host.ts";
import { createInMemoryExecutionHost } from "../execution-host/in-memory.ts";
import type { Host } from "../host/host-port.ts";
import { sqliteHost } from "../sqlite.ts";

const hosts: readonly (readonly [string, () => Host | ExecutionHost])[] = [
	["memory", () => createInMemoryExecutionHost()],
	["SQLite", () => sqliteHost(join(temporaryFolder(), "sessions.db"))],
];

const executionOf = (host: object): ExecutionHost | undefined =>
	"scheduler" in host ? (host as ExecutionHost) : (host as { readonly execution?: ExecutionHost }).execution;

/** An agent whose session has an open run, which works in a sub-agent, and a waiting turn. */
async function atWork(host: Host | ExecutionHost) {
	const begun = Promise.withResolvers<void>();
	const helper = new Agent({
		name: "helper",
		description: "Helps.",
		model: scriptedModel(() => {
			begun.resolve();
			return new Promise<never>(() => {});
		}),
	});
	const call = { name: "delegate_to_helper", arguments: { prompt: "x", description: "x" } };
	const agent = new Agent({ model: scriptedModel([{ toolCalls: [call] }]), host, subagents: [helper] });
	const session = agent.session("s");
	const open = await session.send("Go.");
	await begun.promise;
	const queued = await session.send("Then this.");
	return { agent, session, runIds: [open.runId, queued.runId] };
}

test.each(hosts)(
	"turns of a deleted session look as if they never existed, and those of a killed session have ended (%s)",
	async (_, makeHost) => {
		const host = makeHost();
		const deleted = await atWork(host);
		await deleted.session.delete();
		for (const runId of deleted.runIds) {
			expect(await executionOf(host)?.store.runs.get(runId)).toBeNull();
			await expect(deleted.agent.resume(runId)).rejects.toMatchObject({ code: "run_not_found" });
		}
		await deleted.agent.close();
		const killed = await atWork(host);
		await killed.session.kill();
		for (const runId of killed.runIds) expect(await killed.agent.resume(runId)).toBeNull();
		await killed.agent.close();
		if ("close" in host) await host.close();
	},
);
