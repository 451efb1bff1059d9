import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { checkpointStoreContract, scriptedModel } from "@holdfast/testing";
import { stateOf } from "@holdfast/testing/cases";
import { AssistantMessage, type Message, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/shared/temporary-folder.fixture.ts";
import { anyTool } from "../../agent/agent.fixture.ts";
import { agent } from "../../agent/agent.ts";
import { loadSqlite } from "../../sqlite/load-sqlite.ts";
import { sqliteJournal } from "../../sqlite/sqlite-journal.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { AgentStateJSON } from "../../state/agent-state-json.ts";
import { anyState } from "../../state/random-state.fixture.ts";
import { react } from "../../strategies/react.ts";
import { type SqliteCheckpoints, sqliteCheckpoints } from "./sqlite-checkpoints.ts";

let folder: string;
let path: string;
let stores: SqliteCheckpoints[];

beforeEach(() => {
	folder = temporaryFolder();
	path = join(folder, "checkpoints.db");
	stores = [];
});
afterEach(async () => {
	for (const store of stores) await store.close();
});

function open(options: Partial<Parameters<typeof sqliteCheckpoints>[0] & object> = {}): SqliteCheckpoints {
	const store = sqliteCheckpoints({ path, ...options });
	stores.push(store);
	return store;
}

/** Reads the file without the store. */
function within<T>(look: (database: DatabaseSync) => T): T {
	const database = new (loadSqlite().DatabaseSync)(path);
	try {
		return look(database);
	} finally {
		database.close();
	}
}

const rows = (): { list: string; number: number; body: string }[] =>
	within((database) =>
		database.prepare("SELECT list, number, body FROM items ORDER BY session, list, number").all(),
	) as never;

/** The number of stored bytes. */
const bytes = (): number =>
	within(
		(database) =>
			database
				.prepare(
					"SELECT (SELECT total(length(body)) FROM items) + (SELECT total(length(body)) FROM sessions) AS n",
				)
				.get() as { n: number },
	).n;

for (const { name, run } of checkpointStoreContract({
	name: "a SQLite file",
	make() {
		const place = temporaryFolder();
		const opened: SqliteCheckpoints[] = [];
		return {
			store() {
				const store = sqliteCheckpoints(join(place, "checkpoints.db"));
				opened.push(store);
				return store;
			},
			async end() {
				for (const store of opened) await store.close();
			},
		};
	},
})) {
	test(name, run);
}

describe("checkpoints in a SQLite file", () => {
	test("take up the bytes of the messages, regardless of the number of steps", async () => {
		const sizes: number[] = [];
		for (const steps of [100, 300]) {
			path = join(folder, `${steps}.db`);
			const store = open();
			const model = scriptedModel((_, call) => {
				if (call % 2 === 0) return `Thought number ${call}: `.padEnd(200, "x");
				return call < 2 * steps - 2 ? { toolCalls: [{ name: "look" }] } : "done";
			});
			const tools = [anyTool("look", () => "seen ".repeat(40))];
			const walker = agent({ model, tools, execution: react(), checkpoints: store, sessionId: "s" });
			const { state } = await walker.generate("go", AgentState.initial());
			await walker.flush();
			expect(state.step).toBe(steps);
			expect(await store.load("s")).toEqual(state.toJSON());
			const said = JSON.stringify(state.toJSON()).length;
			expect(bytes()).toBeLessThan(said * 1.05);
			await store.close();
			expect(statSync(path).size).toBeLessThan(said * 2);
			sizes.push(statSync(path).size);
		}
		const [short, long] = sizes as [number, number];
		expect(long).toBeLessThan(short * 3.3);
	});

	test("write only what is new with each save", async () => {
		const store = open();
		let state = AgentState.initial();
		const written: number[] = [];
		for (let step = 1; step <= 300; step++) {
			state = state.withMessage(new UserMessage("word ".repeat(100))).withStep(step);
			await store.save("s", state.toJSON());
			const [row] = within((database) => database.prepare("SELECT length(body) AS n FROM sessions").all());
			written.push((row as { n: number }).n);
		}
		expect(rows()).toHaveLength(300);
		expect((written.at(-1) as number) - (written[0] as number)).toBeLessThan(10);
	});

	test("store a changed message under the same id again, and drop unreferenced items", async () => {
		const store = open();
		const first = AgentState.initial().withMessages([new UserMessage("one"), new AssistantMessage("two")]);
		await store.save("s", first.toJSON());
		const [one, two] = first.messages as [Message, Message];
		const changed = new UserMessage("one, cleared", { id: one.id });
		await store.save("s", first.withContext([changed, two]).toJSON());
		const loaded = AgentState.fromJSON((await store.load("s")) as AgentStateJSON);
		expect(loaded.messages.map(({ id }) => id)).toEqual([one.id, two.id]);
		expect((loaded.messages[0] as UserMessage).text).toBe("one, cleared");
		expect(rows().map(({ number }) => number)).toEqual([2, 3]);
		await store.save("s", AgentState.initial().toJSON());
		expect(rows()).toEqual([]);
	});

	test("load as they were saved, for any sequence of states, in this store and another", async () => {
		const [one, other] = [open(), open()];
		const saves = fc.array(fc.tuple(anyState, fc.boolean()), { minLength: 1, maxLength: 4 });
		await fc.assert(
			fc.asyncProperty(saves, async (list) => {
				for (const [state, here] of list) {
					await (here ? one : other).save("s", state.toJSON());
					expect(await one.load("s")).toEqual(state.toJSON());
				}
			}),
			{ numRuns: 50 },
		);
	});

	test("are visible only to their user, and are kept when the file is reopened", async () => {
		const first = open();
		await first.save("s", stateOf(1));
		for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
		void first.save("s", stateOf(2));
		await first.close();
		expect(readdirSync(folder)).toEqual(["checkpoints.db"]);
		expect(await open({ durability: "power" }).load("s")).toEqual(stateOf(2));
	});

	test("survive the death of the process: the file and its log as left by a crash", async () => {
		const store = open();
		for (let step = 1; step <= 3; step++) await store.save("s", stateOf(step));
		for (const suffix of ["", "-wal"]) copyFileSync(path + suffix, join(folder, `crashed.db${suffix}`));
		path = join(folder, "crashed.db");
		expect(await open().load("s")).toEqual(stateOf(3));
	});

	test("that were not awaited are stored after flush, also those of an agent", async () => {
		const store = open();
		for (let step = 1; step <= 5; step++) void store.save("s", stateOf(step));
		await store.flush();
		expect(within((database) => database.prepare("SELECT count(*) AS n FROM sessions").get())).toEqual({
			n: 1,
		});
		expect((await store.load("s"))?.step).toBe(5);
	});

	test("wait for another program's lock instead of failing", async () => {
		const store = open();
		const database = new (loadSqlite().DatabaseSync)(path);
		database.exec("BEGIN IMMEDIATE");
		const saved = store.save("s", stateOf(1));
		expect(await open().load("s")).toBeNull();
		database.exec("COMMIT");
		database.close();
		await saved;
		expect(await store.load("s")).toEqual(stateOf(1));
	});
});

describe("an invalid file of checkpoints, or an invalid state", () => {
	test("is rejected and unchanged: a journal, a text, a file of a newer release", async () => {
		await sqliteJournal({ path }).close();
		const journal = readFileSync(path);
		expect(() => sqliteCheckpoints(path)).toThrow(expect.objectContaining({ code: "checkpoint_foreign" }));
		expect(readFileSync(path)).toEqual(journal);
		writeFileSync(path, "These are my notes. ".repeat(100));
		expect(() => sqliteCheckpoints(path)).toThrow(expect.objectContaining({ code: "checkpoint_foreign" }));
		path = join(folder, "newer.db");
		await sqliteCheckpoints(path).close();
		within((database) => database.exec("PRAGMA user_version = 999"));
		expect(() => sqliteCheckpoints(path)).toThrow(expect.objectContaining({ code: "checkpoint_newer" }));
		for (const unusable of [":memory:", "", folder]) {
			expect(() => sqliteCheckpoints(unusable)).toThrow(
				expect.objectContaining({ code: "checkpoint_failed", retryable: true }),
			);
		}
		expect(existsSync(":memory:")).toBe(false);
	});

	test("is reported on load: damaged texts, ranges and rows", async () => {
		const store = open();
		const damages = [
			"UPDATE items SET body = '{' WHERE list = 'messages'",
			"DELETE FROM items WHERE list = 'messages'",
			"UPDATE sessions SET body = '{'",
			`UPDATE sessions SET body = '{"messages":"all of them"}'`,
		];
		for (const damage of damages) {
			await store.delete("s");
			await store.save("s", stateOf(1));
			within((database) => database.exec(damage));
			await expect(store.load("s"), damage).rejects.toMatchObject({ code: "checkpoint_corrupt" });
		}
	});

	test("a save that does not fit rejects, and earlier saves are kept", async () => {
		const store = open({ maxFileSize: 100_000 });
		await store.save("s", stateOf(1));
		await expect(store.save("s", stateOf(2, 500_000))).rejects.toMatchObject({
			code: "checkpoint_failed",
			retryable: true,
		});
		expect(await store.load("s")).toEqual(stateOf(1));
		await store.save("s", stateOf(3));
		expect(await store.load("s")).toEqual(stateOf(3));
	});

	test("errors name invalid options, states and ids, and a closed store reports that it is closed", async () => {
		for (const [option, value] of [
			["path", 1],
			["durability", "full"],
			["maxFileSize", 0],
		] as const) {
			expect(() => sqliteCheckpoints({ path, [option]: value } as never)).toThrow(
				expect.objectContaining({ code: "invalid_option", data: { option } }),
			);
		}
		const store = open();
		for (const state of [null, "state", {}, AgentState.initial(), { ...stateOf(1), messages: {} }]) {
			await expect(store.save("s", state as never)).rejects.toMatchObject({ code: "invalid_input" });
		}
		for (const id of [undefined, 7]) {
			await expect(store.load(id as never)).rejects.toMatchObject({ code: "invalid_input" });
		}
		await store.close();
		await store.close();
		await expect(store.load("s")).rejects.toMatchObject({ code: "checkpoints_closed" });
	});
});
