// The ends of sessions and calls reach the policy of a caller too, for what it stored about a sub-agent under it.
import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { memoryHost } from "../host/index.ts";
import { definePlugin, type PluginHost } from "../policy/plugins/plugin.ts";
import { agent } from "./agent.ts";
import { createSubAgentTool } from "./create-sub-agent-tool.ts";

const parameters = { type: "object", properties: {} } as const;

function office() {
	const counted = new Set<string>();
	const deleted: string[] = [];
	let plugins: PluginHost | undefined;
	const plugin = definePlugin({
		name: "count",
		setup(host) {
			plugins = host;
			host.on("tool.call", async ({ sessionKey }) => {
				counted.add(sessionKey);
				await host.values(sessionKey).set("count", 1);
			});
			host.on("session.delete", ({ sessionKey }) => void deleted.push(sessionKey));
		},
	});
	const once = (name: string) =>
		scriptedModel(({ messages }) =>
			messages.some(isToolResultMessage) ? "Done." : { toolCalls: [{ name, arguments: {} }] },
		);
	const look = { name: "look", description: "Looks.", parameters, run: () => "seen" };
	const clerk = agent({ model: once("look"), tools: [look], plugins: [definePlugin({ name: "own" })] });
	const about = { name: "clerk", description: "Asks.", parameters };
	const { files: _, ...host } = memoryHost();
	const boss = agent({
		model: once("clerk"),
		tools: [createSubAgentTool({ ...about, agent: clerk, policy: "caller" })],
		plugins: [plugin],
		host,
	});
	return { boss, counted, deleted, stored: (key: string) => plugins?.values(key).list() };
}

test("a deletion notifies the caller's plugins of each sub-agent's session", async () => {
	const { boss, counted, deleted, stored } = office();
	const run = await boss.session("ann").send("go");
	await run.result();
	expect(counted.size).toBe(2);
	await boss.session("ann").delete();
	expect(new Set(deleted)).toEqual(counted);
	for (const key of counted) expect(await stored(key)).toEqual([]);
});

test("the end of a sub-agent's call drops what the caller's plugins stored for it", async () => {
	const { boss, counted, stored } = office();
	await boss.generate("go");
	expect(counted.size).toBe(2);
	for (const key of counted) expect(await stored(key)).toEqual([]);
});
