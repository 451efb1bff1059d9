import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { Readable } from "node:stream";
import { checkpointStoreContract } from "@holdfast/testing";
import { expectWhole, oddIds, stateOf } from "@holdfast/testing/cases";
import { UserMessage } from "@holdfast/upp";
import { AgentState, type AgentStateJSON } from "holdfast";
import type { CheckpointMetadata } from "holdfast/checkpoint";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { fileCheckpoints } from "./file-checkpoints.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
let place = "";
let dir = "";
const children: ChildProcess[] = [];

beforeEach(() => {
	place = temporaryFolder();
	dir = join(place, "deep", "checkpoints");
});
afterEach(async () => {
	for (const child of children.splice(0)) {
		if (child.exitCode !== null || child.signalCode !== null) continue;
		child.kill("SIGKILL");
		await once(child, "exit");
	}
});

function saveElsewhere(session: string, from: number, count: number, length: number): ChildProcess {
	const child = fork(
		new URL("./checkpoint-process.fixture.ts", import.meta.url),
		[dir, session, String(from), String(count), String(length)],
		{ execArgv: ["--conditions=holdfast-source", "--no-warnings"] },
	);
	children.push(child);
	return child;
}

function metadataOf(session: string): CheckpointMetadata {
	return JSON.parse(readFileSync(join(dir, session, "metadata.json"), "utf8"));
}

/** Every file and folder under a directory, by its path from there. */
function below(directory: string): string[] {
	return readdirSync(directory, { recursive: true, withFileTypes: true }).map((entry) =>
		join(relative(directory, entry.parentPath), entry.name),
	);
}

/** Starts a process that interrupts itself at the given points, and reads its output. */
function saveInterrupted(
	how: "kill" | "wait",
	from: number,
	to: number,
): { child: ChildProcess; said: Interface } {
	const fixture = new URL("./interrupted-process.fixture.ts", import.meta.url);
	const child = fork(fixture, [dir, how, String(from), String(to)], {
		execArgv: ["--conditions=holdfast-source", "--no-warnings"],
		silent: true,
	});
	children.push(child);
	return { child, said: createInterface(child.stdout as Readable) };
}

/** Both files of a session, if there are any, are of one save; and there are no others. */
async function expectPair(session: string): Promise<void> {
	const loaded = await fileCheckpoints({ dir }).load(session);
	expectWhole(loaded);
	if (loaded === null) return expect(existsSync(join(dir, session))).toBe(false);
	expect(metadataOf(session).step, session).toBe(loaded.step);
	expect(readdirSync(join(dir, session)).sort()).toEqual(["checkpoint.json", "metadata.json"]);
}

for (const compress of [false, true]) {
	const make = () => {
		const folder = temporaryFolder();
		return {
			store: () => fileCheckpoints({ dir: folder, compress }),
			end() {},
		};
	};
	const name = compress ? "files with gzip" : "files";
	for (const { name: title, run } of checkpointStoreContract({ name, make })) test(title, run);
}

describe("checkpoints in files", () => {
	test("are the state and its metadata in a folder named as the session [UAP-136]", async () => {
		const state = AgentState.initial().withMessage(new UserMessage("hello")).withStep(2).toJSON();
		await fileCheckpoints({ dir }).save("s", state);
		expect(below(dir).sort()).toEqual(["s", "s/checkpoint.json", "s/metadata.json"]);
		expect(JSON.parse(readFileSync(join(dir, "s", "checkpoint.json"), "utf8"))).toEqual(state);
	});

	test.skipIf(process.platform === "win32")("can be read by their user only", async () => {
		const directory = join(dir, "made", "here");
		const store = fileCheckpoints({ dir: directory });
		await store.save("s", AgentState.initial().toJSON());
		const modes = ["..", ".", "s", "s/checkpoint.json", "s/metadata.json"].map(
			(path) => statSync(join(directory, path)).mode & 0o777,
		);
		expect(modes).toEqual([0o700, 0o700, 0o700, 0o600, 0o600]);
	});

	test("are in .checkpoints by default [UAP-136]", async () => {
		const before = process.cwd();
		const cwd = vi.spyOn(process, "cwd").mockReturnValue(place);
		try {
			await fileCheckpoints().save("s", stateOf(1));
		} finally {
			cwd.mockRestore();
		}
		expect(existsSync(join(place, ".checkpoints", "s", "checkpoint.json"))).toBe(true);
		expect(process.cwd()).toBe(before);
	});

	test("are described by metadata, which loadMetadata returns", async () => {
		const store = fileCheckpoints({ dir });
		expect(await store.loadMetadata("s")).toBeNull();
		await store.save("s", { ...stateOf(2), metadata: { agentId: "agent-7" } });
		expect(await store.loadMetadata("s")).toEqual(metadataOf("s"));
		expect(await store.loadMetadata("s")).toMatchObject({ sessionId: "s", step: 2, agentId: "agent-7" });
		await store.delete("s");
		expect(await store.loadMetadata("s")).toBeNull();
	});

	test("are described by new metadata with each save [UAP-135]", async () => {
		const store = fileCheckpoints({ dir });
		const before = Date.now();
		await store.save("s", stateOf(1));
		const first = metadataOf("s");
		await store.save("s", { ...stateOf(2), metadata: { agentId: "agent-7" } });
		const second = metadataOf("s");
		expect(first).toEqual({
			sessionId: "s",
			checkpointId: expect.stringMatching(uuid),
			timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
			step: 1,
		});
		expect(Date.parse(first.timestamp)).toBeGreaterThanOrEqual(before);
		expect(second).toMatchObject({ step: 2, agentId: "agent-7" });
		expect(second.checkpointId).not.toBe(first.checkpointId);
	});

	test("load the last save, are listed exactly, and are deleted with all their files [UAP-134]", async () => {
		const store = fileCheckpoints({ dir });
		expect([await store.load("a"), await store.list()]).toEqual([null, []]);
		for (const id of ["a", "b"]) for (const step of [1, 2]) await store.save(id, stateOf(step));
		expect(await store.load("a")).toEqual(stateOf(2));
		expect((await store.list()).sort()).toEqual(["a", "b"]);
		await store.delete("a");
		await store.delete("never");
		expect(await store.load("a")).toBeNull();
		expect(await store.list()).toEqual(["b"]);
		expect(below(dir).sort()).toEqual(["b", "b/checkpoint.json", "b/metadata.json"]);
	});

	test("of a session with a custom name are found under that name", async () => {
		const store = fileCheckpoints({ dir });
		await store.save("my-session", AgentState.initial().withMetadata("sessionId", "my-session").toJSON());
		expect(readdirSync(dir)).toEqual(["my-session"]);
		expect(await store.list()).toEqual(["my-session"]);
		expect((await store.load("my-session"))?.metadata.sessionId).toBe("my-session");
	});

	test("contain sub-agents' traces, appended to the state and equal after a restore [UAP-097]", async () => {
		const store = fileCheckpoints({ dir });
		const trace = {
			subagentId: "sub-1",
			subagentType: "explorer",
			parentToolCallId: "call-1",
			prompt: "look",
			startTime: 1_700_000_000_000,
			endTime: 1_700_000_000_250,
			success: true,
			result: "found",
			toolExecutions: [
				{
					toolName: "grep",
					toolCallId: "c",
					arguments: { for: new Uint8Array([1]) },
					result: "1 line",
					duration: 3,
				},
			],
			usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
		};
		const failed = { ...trace, subagentId: "sub-2", success: false, error: "no" };
		let state = AgentState.initial();
		for (const [index, next] of [trace, failed].entries()) {
			const before = state;
			state = state.withSubagentTrace(next);
			expect(before.subagentTraces?.length ?? 0).toBe(index);
			await store.save("s", state.toJSON());
			const loaded = (await store.load("s")) as AgentStateJSON;
			expect(loaded.subagentTraces).toHaveLength(index + 1);
			expect(AgentState.fromJSON(loaded).subagentTraces).toEqual([trace, failed].slice(0, index + 1));
		}
	});

	test("never leave their directory, for any session name [UAP-138]", async () => {
		const store = fileCheckpoints({ dir });
		const outside = join(place, "deep", "x", "checkpoint.json");
		await fileCheckpoints({ dir: join(place, "deep") }).save("x", stateOf(7));
		for (const id of [...oddIds, "../x", "../../x", "a/../../x", join(place, "deep", "x")]) {
			expect(await store.load(id), id).toBeNull();
			await store.save(id, stateOf(1));
			await store.delete(id);
		}
		await store.save("..", stateOf(1));
		expect(JSON.parse(readFileSync(outside, "utf8"))).toEqual(stateOf(7));
		expect(
			below(place)
				.filter((path) => !path.startsWith(relative(place, dir)))
				.sort(),
		).toEqual(["deep", "deep/x", "deep/x/checkpoint.json", "deep/x/metadata.json"]);
		expect(readdirSync(dir)).toEqual(["%002e%002e"]);
		for (const id of [undefined, 7, null]) {
			await expect(store.load(id as never)).rejects.toMatchObject({ code: "invalid_input" });
		}
	});

	test("end in the order of the saves, also of two stores in one process", async () => {
		const stores = [
			fileCheckpoints({ dir }),
			fileCheckpoints({ dir: relative(process.cwd(), dir) }),
		] as const;
		for (let step = 1; step <= 20; step++) void stores[step % 2]?.save("s", stateOf(step, 30_000 / step));
		expect((await stores[0].load("s"))?.step).toBe(20);
		expect(metadataOf("s").step).toBe(20);
	});

	test("of concurrent stores are never mixed, and other sessions are unaffected [UAP-145]", async () => {
		const stores = [fileCheckpoints({ dir }), fileCheckpoints({ dir })] as const;
		await stores[0].save("other", stateOf(42));
		const work: Promise<unknown>[] = [];
		for (let step = 0; step < 80; step++) {
			const store = stores[step % 2] as (typeof stores)[0];
			work.push(
				store.save("s", stateOf(step, 10_000)),
				stores[(step + 1) % 2]?.load("s").then(expectWhole) as Promise<void>,
			);
			if (step % 9 === 0) work.push(store.delete("s"));
		}
		await Promise.all(work);
		expect(await stores[0].load("s")).toEqual(stateOf(79, 10_000));
		expect(metadataOf("s").step).toBe(79);
		expect(await stores[1].load("other")).toEqual(stateOf(42));
	});

	test("of several processes are complete at every moment [UAP-145]", async () => {
		const store = fileCheckpoints({ dir });
		await store.save("s", stateOf(0, 50_000));
		const writers = [1_000, 2_000, 3_000].map((from) => saveElsewhere("s", from, 25, 50_000));
		const ends = Promise.all(writers.map((writer) => once(writer, "exit")));
		let running = true;
		void ends.then(() => {
			running = false;
		});
		for (let round = 0; running; round++) {
			expectWhole(await store.load("s"));
			if (round % 20 === 19) await store.delete("s");
			await new Promise((resolve) => setImmediate(resolve));
		}
		expect((await ends).map(([code]) => code)).toEqual([0, 0, 0]);
		expectWhole(await store.load("s"));
	});

	test("are not affected by a truncated temporary file, which is removed later [UAP-139]", async () => {
		const store = fileCheckpoints({ dir });
		await store.save("s", stateOf(1));
		const [old, young] = ["old", "young"].map((name) => join(dir, "s", `checkpoint.json.${name}.tmp`)) as [
			string,
			string,
		];
		for (const path of [old, young]) writeFileSync(path, '{"version":"1.0');
		utimesSync(old, new Date(0), new Date(0));
		expect(await store.load("s")).toEqual(stateOf(1));
		expect(await store.list()).toEqual(["s"]);
		await store.save("s", stateOf(2));
		expect([existsSync(old), existsSync(young)]).toEqual([false, true]);
	});

	test("are smaller with gzip, and are read in either format [UAP-146]", async () => {
		const plain = fileCheckpoints({ dir });
		const packed = fileCheckpoints({ dir, compress: true });
		const path = join(dir, "s", "checkpoint.json");
		const state = stateOf(3, 500_000);
		await plain.save("s", state);
		expect(JSON.parse(readFileSync(path, "utf8"))).toEqual(state);
		const size = statSync(path).size;
		expect(await packed.load("s")).toEqual(state);
		await packed.save("s", state);
		expect(statSync(path).size).toBeLessThan(size / 10);
		expect(await packed.load("s")).toEqual(state);
		expect(await plain.load("s")).toEqual(state);
	});

	test("that were damaged are rejected", async () => {
		const store = fileCheckpoints({ dir });
		await store.save("s", stateOf(1));
		for (const content of ['{"version"', "", new Uint8Array([0x1f, 0x8b, 1])]) {
			writeFileSync(join(dir, "s", "checkpoint.json"), content);
			await expect(store.load("s")).rejects.toMatchObject({
				code: "checkpoint_corrupt",
				message: expect.stringContaining(join(dir, "s")),
			});
		}
	});

	test("that cannot be written are rejected, and earlier data is kept", async () => {
		const store = fileCheckpoints({ dir });
		await store.save("s", stateOf(1));
		const blocked = fileCheckpoints({ dir: join(dir, "s", "checkpoint.json") });
		await expect(blocked.save("x", stateOf(2))).rejects.toMatchObject({
			code: "checkpoint_failed",
			retryable: true,
		});
		await expect(store.save("s", null as never)).rejects.toMatchObject({ code: "invalid_input" });
		expect(await store.load("s")).toEqual(stateOf(1));
	});

	test("that were not awaited are on disk after flush", async () => {
		const store = fileCheckpoints({ dir });
		for (let step = 1; step <= 5; step++) void store.save("s", stateOf(step));
		await store.flush();
		expect(metadataOf("s").step).toBe(5);
		await store.flush();
	});
});

describe("a process that is interrupted while it saves", () => {
	/** The file operations of one save, as the process counts them. */
	async function countOperations(): Promise<number> {
		const { said } = saveInterrupted("kill", 0, 0);
		const [line] = await once(said, "line");
		return Number(/^operations (\d+)$/.exec(line)?.[1]);
	}

	test("leaves the previous or the new state, wherever it was killed [UAP-139]", async () => {
		const store = fileCheckpoints({ dir });
		const operations = await countOperations();
		expect(operations).toBeGreaterThan(10);
		const found: (number | undefined)[] = [];
		for (let place = 1; place <= operations; place++) {
			await store.save(`s${place}`, stateOf(1, 50_000));
			const { child } = saveInterrupted("kill", place, place);
			const [, signal] = await once(child, "exit");
			expect(signal).toBe("SIGKILL");
			const loaded = await store.load(`s${place}`);
			expectWhole(loaded);
			found.push(loaded?.step);
		}
		// First the old state, and from some operation on the new one.
		expect(found).toEqual([...found].sort());
		expect(new Set(found)).toEqual(new Set([1, 2]));
		expect(await store.list()).toHaveLength(operations + 1);
	});

	test.each(["save", "delete"] as const)(
		"leaves the files of one save, wherever another process did a %s in the meantime",
		async (meanwhile) => {
			const store = fileCheckpoints({ dir });
			const operations = await countOperations();
			const { child, said } = saveInterrupted("wait", 1, operations);
			for (let place = 1; place <= operations; place++) {
				const [line] = await once(said, "line");
				expect(line).toBe(`at ${place}`);
				if (meanwhile === "save") await store.save(`s${place}`, stateOf(3, 20_000));
				else await store.delete(`s${place}`);
				child.stdin?.write(".");
			}
			const [code] = await once(child, "exit");
			expect(code).toBe(0);
			for (let place = 1; place <= operations; place++) await expectPair(`s${place}`);
		},
	);
});

test("foreign folders in the directory are not sessions", async () => {
	const store = fileCheckpoints({ dir });
	await store.save("s", stateOf(1));
	await fileCheckpoints({ dir: dirname(dir) }).list();
	await fileCheckpoints({ dir: join(dir, "..", "checkpoints") }).save("t", stateOf(1));
	writeFileSync(join(dir, "note.txt"), "");
	writeFileSync(join(dir, "s", "more.txt"), "");
	rmSync(join(dir, "t", "checkpoint.json"));
	expect(await store.list()).toEqual(["s"]);
});
