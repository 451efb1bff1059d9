// Deletions of threads that race with all other requests. Once the last one has ended, the store keeps nothing of the threads
// but cancelled runs.
import { join } from "node:path";
import { sqliteHost } from "holdfast/sqlite";
import { leftInStore } from "../../../../test/shared/left-in-store.fixture.ts";
import { defineAgent, definePrompt } from "../define/index.ts";
import { temporaryFolder } from "../files/files.fixture.ts";
import type { PromptDefinition } from "../types/index.ts";
import { oneAgent, type Reply, scripted, start } from "./threads.fixture.ts";

const ids = ["a", "b", "c"];

/** Has random requests race, deletes all threads, and returns what is left of them. */
export async function raceThreadDeletions(seed: number): Promise<ReturnType<typeof leftInStore>> {
	let state = seed * 7_919;
	const random = (below: number): number => {
		state = (state * 48_271) % 2_147_483_647;
		return state % below;
	};
	const path = join(temporaryFolder(), "threads.db");
	const host = sqliteHost(path);
	const ask = (name: string): Reply => ({ calls: [{ name, args: { message: "Dig." } }] });
	const provider = scripted(({ messages }) => {
		if (String(messages[0]?.content).includes("You dig")) return "Dug.";
		const next = random(5);
		return next < 3 ? "Yes." : ask(next === 3 ? "waited" : "left");
	});
	const digger = (name: string) =>
		defineAgent({
			name,
			description: "Digs.",
			exposeAsTool: true,
			toolDescription: "Digs.",
			sideA: { prompt: "dig" },
		});
	const called = { initUserMessageProperty: "message" };
	const project = oneAgent(provider, {
		agents: [digger("waited"), digger("left")],
		prompt: {
			tools: [
				{ ...called, name: "waited", blocking: true },
				{ ...called, name: "left", blocking: false },
			],
		},
		prompts: [
			definePrompt({
				name: "dig",
				toolDescription: "Digs.",
				prompt: "You dig.",
				model: "main",
			}) as PromptDefinition,
		],
		agent: { maxSessionTurns: 6 },
	});
	const { threads } = start(project, { host });
	const create = (id: string): Promise<unknown> =>
		threads.createThread({ agentId: "helper", id, message: "Go." });
	const say = (id: string): Promise<unknown> => threads.queueMessage(id, { content: "more" });
	const acts = [
		create,
		create,
		say,
		say,
		(id: string) => threads.stop(id),
		(id: string) => threads.continue(id),
		(id: string) => threads.terminate(id),
		(id: string) => threads.delete(id),
	];
	const asked: Promise<unknown>[] = [];
	for (let step = 0; step < 60; step++) {
		const id = ids[random(ids.length)] as string;
		asked.push((acts[random(acts.length)] as (id: string) => Promise<unknown>)(id).catch(() => {}));
		for (let hop = random(12); hop > 0; hop--) await null;
		if (random(4) === 0) await new Promise((resolve) => setImmediate(resolve));
	}
	const deleteAll = async (): Promise<void> => {
		for (const { id } of await threads.list()) await threads.delete(id);
	};
	await deleteAll();
	await Promise.all(asked);
	// A thread whose creation came after the deletion.
	await deleteAll();
	await threads.quiet();
	await threads.close();
	await host.close();
	return leftInStore(path);
}
