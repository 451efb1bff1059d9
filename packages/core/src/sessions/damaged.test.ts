// A session with damaged rows stops only itself: others are recovered, and the damaged one can be killed and deleted.
import { join } from "node:path";
import { MemorySessionStore } from "@holdfast/stores";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { createInMemoryExecutionHost } from "../execution-host/in-memory.ts";
import type { WorkProblem } from "../sessions/supervised.ts";
import { loadSqlite } from "../sqlite/load-sqlite.ts";
import { sqliteHost } from "../sqlite.ts";
import { gate, never } from "./sessions.fixture.ts";

/** Damage to the rows of the session "b". */
const damages: readonly (readonly [string, string])[] = [
	["bodies that are no JSON", "UPDATE entries SET body = '{' WHERE session = :b"],
	["bodies of other JSON", "UPDATE entries SET body = 'null' WHERE session = :b"],
	["bodies without members", "UPDATE entries SET body = '{}' WHERE session = :b"],
	["a kind that nobody knows", "UPDATE entries SET kind = 'what' WHERE session = :b"],
	["a version to come", "UPDATE entries SET version = 99 WHERE session = :b"],
	["entries without a run", "UPDATE entries SET run_id = NULL, run = NULL WHERE session = :b"],
	["a gap", "DELETE FROM entries WHERE session = :b AND seq = 1"],
	["no entries", "DELETE FROM entries WHERE session = :b"],
	["inputs that are no JSON", "UPDATE inputs SET body = '{' WHERE session = :b"],
	["inputs of other JSON", "UPDATE inputs SET body = '7' WHERE session = :b"],
	["inputs of no kind", "UPDATE inputs SET kind = 'what' WHERE session = :b"],
	["chunks that are no JSON", "UPDATE chunks SET body = '{' WHERE session = :b"],
	["values that are no JSON", "UPDATE session_values SET value = '{' WHERE session = :b"],
];

/**
 * A file with the sessions "a", "b" and "c", each with a run that its process left and a waiting turn; "b" is damaged.
 */
async function damaged(damage: string): Promise<string> {
	const path = join(temporaryFolder(), "host.db");
	const host = sqliteHost(path);
	const working = ["a", "b", "c"].map(() => gate());
	let asked = 0;
	const agent = new Agent({
		model: scriptedModel(() => {
			working[asked++]?.open();
			return { gate: never, text: "never" };
		}),
		host,
		keepDeltasMs: 1,
	});
	for (const key of ["a", "b", "c"]) {
		void (await agent.session(key).send("one")).result();
		void (await agent.session(key).send("two")).result();
		await host.values.values(key, "somebody").set("name", { a: 1 });
	}
	await Promise.all(working.map(({ promise }) => promise));
	await agent.close();
	await host.close();
	const database = new (loadSqlite().DatabaseSync)(path);
	const { id } = database.prepare("SELECT id FROM sessions WHERE key = ?").get("b") as { id: number };
	database.exec(damage.replaceAll(":b", String(id)));
	database.close();
	return path;
}

describe.each(damages)("a session with %s", (_, damage) => {
	test("does not delay the recovery of the others", async () => {
		const host = sqliteHost(await damaged(damage));
		const agent = new Agent({ model: scriptedModel(() => "Fine."), host });
		const problems: WorkProblem[] = [];
		for await (const run of agent.recover({ onProblem: (problem) => problems.push(problem) }))
			void run.result();
		for (const key of ["a", "c"])
			await expect.poll(async () => (await host.journal.head(key))?.openRunId).toBeUndefined();
		for (const { sessionKey, error } of problems) {
			expect(sessionKey).toBe("b");
			expect((error as { code?: string }).code).toMatch(/^journal_(corrupt|newer)$/);
		}
		await agent.close();
		await host.close();
	});

	test.each(["kill", "delete", "kill, then delete"])("can be ended: %s", async (how) => {
		const host = sqliteHost(await damaged(damage));
		const agent = new Agent({ model: scriptedModel(() => "Fine."), host });
		if (how.startsWith("kill")) {
			await agent.session("b").kill();
			const head = await host.journal.head("b");
			expect([head?.openRunId, head?.waiting]).toEqual([undefined, 0]);
		}
		if (how.endsWith("delete")) {
			await agent.session("b").delete();
			expect(await host.journal.head("b")).toBeUndefined();
			expect((await (await agent.session("b").send("anew")).result()).text).toBe("Fine.");
		}
		await agent.close();
		await host.close();
	});
});

describe.each(["a session store", "an execution host"])("over %s", (kind) => {
	test.each<[string, unknown]>([
		["nothing", null],
		["text", "text"],
		["an empty object", {}],
		["a list", []],
		["a later format", { format: 99 }],
		["a head without its parts", { format: 1 }],
	])(
		"a session whose head is %s can be killed and deleted, and reports what is wrong with it",
		async (_, state) => {
			const execution = createInMemoryExecutionHost();
			const store = kind === "a session store" ? new MemorySessionStore() : execution.store.sessions;
			const host = kind === "a session store" ? { sessionStore: store } : execution;
			const agent = new Agent({ model: scriptedModel(() => "Fine."), host });
			const keys: string[] = [];
			const { commit } = store;
			store.commit = (key, ...given) => {
				keys.push(key);
				return commit.call(store, key, ...given);
			};
			await (await agent.session("b").send("one")).result();
			for (const key of new Set(keys)) {
				const { version = null } = (await store.load(key)) ?? {};
				await commit.call(store, key, { state }, { expectedVersion: version });
			}
			const run = await agent.session("b").send("two");
			expect((await run.result()).error?.code).toMatch(/^journal_(corrupt|newer)$/);
			await agent.session("b").kill();
			await agent.session("b").delete();
			expect((await (await agent.session("b").send("anew")).result()).text).toBe("Fine.");
			await agent.close();
		},
	);
});
