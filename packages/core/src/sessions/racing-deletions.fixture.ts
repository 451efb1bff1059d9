// Deletions of sessions that race with all other requests. After the last one, the store keeps nothing of the sessions
// but cancelled runs.
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { leftInStore } from "../../../../test/shared/left-in-store.fixture.ts";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { sqliteHost } from "../sqlite.ts";
import { tool } from "../tools/index.ts";

const keys = ["a", "b", "c"];

/** Makes random requests race, deletes all sessions, and returns what is left of them. */
export async function raceDeletions(seed: number): Promise<ReturnType<typeof leftInStore>> {
	let state = seed * 7_919;
	const random = (below: number): number => {
		state = (state * 48_271) % 2_147_483_647;
		return state % below;
	};
	const path = join(temporaryFolder(), "s.db");
	const host = sqliteHost(path);
	const helper = new Agent({ name: "helper", description: "Helps.", model: scriptedModel(() => "Helped.") });
	const remote = { name: "ask", description: "Asks.", parameters: { type: "object" } };
	const look = tool({
		name: "look",
		description: "Looks.",
		parameters: { type: "object" },
		async *run() {
			yield "one";
			await new Promise((resolve) => setImmediate(resolve));
			yield "two";
		},
	});
	const replies = [
		() => "Yes.",
		() => ({ toolCalls: [{ name: "look" }] }),
		() => ({ toolCalls: [{ name: "ask" }] }),
		() => ({
			toolCalls: [
				{
					name: "delegate_to_helper",
					arguments: { prompt: "x", description: "x", run_in_background: random(2) === 0 },
				},
			],
		}),
	];
	const model = scriptedModel(() => replies[random(replies.length)]?.() ?? "Yes.");
	const agent = new Agent({
		model,
		host,
		tools: [look, remote],
		subagents: [helper],
		keepDeltasMs: 1,
		maxSteps: 6,
		onWarning: () => {},
	});
	const send = async (key: string): Promise<unknown> => (await agent.session(key).send("go")).result();
	const acts = [
		send,
		send,
		(key: string) => agent.session(key).steer("more"),
		(key: string) => agent.session(key).edit({ kind: "add", message: new UserMessage("x") }),
		async (key: string) => agent.session(key).interrupt(),
		(key: string) => agent.session(key).kill(),
		(key: string) => agent.session(key).delete(),
		(key: string) => agent.session(key).resume(),
	];
	const asked: Promise<unknown>[] = [];
	for (let step = 0; step < 60; step++) {
		const key = keys[random(keys.length)] as string;
		asked.push((acts[random(acts.length)] as (key: string) => Promise<unknown>)(key).catch(() => {}));
		for (let hop = random(12); hop > 0; hop--) await null;
		if (random(4) === 0) await new Promise((resolve) => setImmediate(resolve));
	}
	const each = async (act: "kill" | "delete"): Promise<void> => {
		for (const key of keys) await agent.session(key)[act]();
	};
	await each("kill");
	// A request that came after the kill ends with the deletion.
	await each("delete");
	await Promise.all(asked);
	await each("delete");
	await agent.close();
	await host.close();
	return leftInStore(path);
}
