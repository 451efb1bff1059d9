import { scriptedModel } from "@holdfast/testing";
import { HoldfastError } from "@holdfast/upp";
import { expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { journalHost } from "../host/host-port.ts";
import type { Journal } from "../host/journal.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { echo, never } from "./sessions.fixture.ts";
import type { WorkProblem } from "./supervised.ts";

/** A store with a run in each of these sessions that a dead process left open; that of `a` is unreadable. */
async function withBrokenSession(keys: readonly string[]): Promise<Journal> {
	const dead = memoryJournal({ workerId: "dead" });
	const tools = [anyTool("look", () => never)];
	const model = scriptedModel(() => ({ toolCalls: [{ name: "look" }] }));
	const agent = new Agent({ model, tools, host: journalHost(dead) });
	for (const key of keys) {
		const run = await agent.session(key).send("go");
		for await (const { type } of run.watch()) if (type === "tool_start") break;
	}
	dead.die();
	const living = dead.worker("living");
	return {
		...living,
		read(key, options) {
			if (key === "a") throw new HoldfastError("journal_corrupt", "An entry of it cannot be read.");
			return living.read(key, options);
		},
	};
}

async function recovered(agent: Agent, onProblem?: (problem: WorkProblem) => void): Promise<string[]> {
	const keys: string[] = [];
	for await (const run of agent.recover({ onProblem })) {
		keys.push(run.sessionKey);
		await run.result();
	}
	return keys;
}

test("a session that cannot be recovered delays none of the others, and is reported with its key", async () => {
	const host = journalHost(await withBrokenSession(["a", "b", "c"]));
	const agent = new Agent({ model: scriptedModel(echo), tools: [anyTool("look", () => 1)], host });
	const problems: WorkProblem[] = [];
	expect(await recovered(agent, (problem) => problems.push(problem))).toEqual(["b", "c"]);
	expect(problems).toMatchObject([{ sessionKey: "a", error: { code: "journal_corrupt" } }]);
});

test("failed recoveries are thrown after all others finished, if there is no problem listener", async () => {
	const host = journalHost(await withBrokenSession(["a", "b"]));
	const agent = new Agent({ model: scriptedModel(echo), tools: [anyTool("look", () => 1)], host });
	const seen: string[] = [];
	const recovering = (async () => {
		for await (const run of agent.recover()) seen.push((await run.result()).outcome);
	})();
	await expect(recovering).rejects.toMatchObject({ code: "journal_corrupt" });
	expect(seen).toEqual(["completed"]);
});

test("many sessions are recovered a page at a time, each once", async () => {
	const dead = memoryJournal({ workerId: "dead" });
	const before = new Agent({ model: scriptedModel(echo), host: journalHost(dead), unread: "wait" });
	const keys = Array.from({ length: 1_002 }, (_, at) => `s${String(at).padStart(4, "0")}`);
	for (const key of keys) await before.session(key).send("go");
	dead.die();
	const living = dead.worker("living");
	const pages: (number | undefined)[] = [];
	const journal: Journal = {
		...living,
		list(options) {
			if (options?.state === "orphaned") pages.push(options.limit);
			return living.list(options);
		},
	};
	const agent = new Agent({ model: scriptedModel(echo), host: journalHost(journal) });
	expect(await recovered(agent)).toEqual(keys);
	expect(pages).toEqual([1_000, 1_000]);
});
