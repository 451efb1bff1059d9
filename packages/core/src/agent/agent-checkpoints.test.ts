import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { fileCheckpoints } from "@holdfast/stores";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { CheckpointStore } from "../checkpoint/checkpoint-store.ts";
import type { AgentStreamResult } from "../engine/agent-stream-result.ts";
import type { AgentStreamEvent } from "../engine/uap-events.ts";
import { sqliteCheckpoints } from "../sqlite.ts";
import { AgentState } from "../state/agent-state.ts";
import type { AgentStateJSON } from "../state/agent-state-json.ts";
import type { GenerateResult } from "../state/generate-result.ts";
import type { ExecutionStrategy } from "../strategies/execution-strategy.ts";
import { loop } from "../strategies/loop.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import { anyTool, lines, withoutIdentity } from "./agent.fixture.ts";
import { agent } from "./agent.ts";

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const initial = AgentState.initial();
const look = anyTool("look", () => "seen");
const round: ScriptedReply = { toolCalls: [{ name: "look" }] };
const steps = ["a", "b"].map((id) => ({ id, description: `Do ${id}.` }));
const planned: ScriptedReply = { data: { steps }, text: JSON.stringify({ steps }) };

/** A stream without events. */
function streamOf(result: Promise<GenerateResult>): AgentStreamResult {
	return { result, abort() {}, async *[Symbol.asyncIterator](): AsyncGenerator<AgentStreamEvent> {} };
}

/** A custom strategy of two steps with its own stream. The library knows only what its hooks report. */
const custom: ExecutionStrategy = {
	name: "custom",
	async execute({ llm, input, state, strategy }) {
		let next = state.withMessage(input);
		let turn = await llm.generate(state.messages, input);
		for (const step of [1, 2]) {
			strategy.onStepStart?.(step, next);
			if (step === 2) turn = await llm.generate(next.messages, "Continue.");
			next = next.withMessage(turn.response).withStep(step);
			strategy.onStepEnd?.(step, { turn, state: next });
		}
		return { turn, state: next };
	},
	stream(context) {
		return streamOf(this.execute(context));
	},
};

/** A custom strategy that ignores the state it was given. */
const forgetful: ExecutionStrategy = {
	...custom,
	async execute({ llm, input, strategy }) {
		const turn = await llm.generate([], input);
		const state = AgentState.initial().withMessages(turn.messages).withStep(1);
		strategy.onStepEnd?.(1, { turn, state });
		return { turn, state };
	},
};

/** Strategies, each with a script of two steps. */
const strategies: Record<string, [ExecutionStrategy, (string | ScriptedReply)[]]> = {
	"loop()": [loop(), [round, "done"]],
	"react()": [react(), ["I look.", round, "I have it.", "done"]],
	"plan()": [plan(), [planned, "a is done", "b is done"]],
	"a custom strategy": [custom, ["one", "two"]],
};

interface Saved {
	readonly id: string;
	readonly state: AgentStateJSON;
}

/** A user-written store, with everything that was saved. */
function memoryStore(): CheckpointStore & { readonly saved: Saved[] } {
	const saved: Saved[] = [];
	const kept = new Map<string, string>();
	return {
		saved,
		async save(id, state) {
			saved.push({ id, state: structuredClone(state) }); // throws for, or empties, anything but plain data
			await Promise.resolve();
			kept.set(id, JSON.stringify(state));
		},
		load: async (id) => JSON.parse(kept.get(id) ?? "null"),
		delete: async (id) => void kept.delete(id),
		list: async () => [...kept.keys()],
	};
}

let folder: string;
beforeEach(() => {
	folder = temporaryFolder();
});
afterEach(() => {
	vi.restoreAllMocks();
});

describe("the id of a session", () => {
	test("is one new UUID for all saves unless you give one, and is absent without a store [UAP-012]", async () => {
		const checkpoints = memoryStore();
		const model = scriptedModel([round, "done", "again"]);
		const one = agent({ model, tools: [look], checkpoints });
		const { state } = await one.generate("go", initial);
		await one.generate("continue", initial);
		await one.flush();
		const ids = checkpoints.saved.map(({ id }) => id);
		expect(ids).toHaveLength(3);
		expect(new Set(ids).size).toBe(1);
		expect(ids[0]).toMatch(uuid4);
		expect(state.metadata).toEqual({ sessionId: ids[0] });
		const other = memoryStore();
		const two = agent({ model: scriptedModel(["done"]), checkpoints: other });
		await two.generate("go", initial);
		await two.flush();
		expect(other.saved[0]?.id).not.toBe(ids[0]);
		const plain = await agent({ model: scriptedModel(["done"]) }).generate("go", initial);
		expect(plain.state.metadata).toEqual({});
	});

	const everyStrategy = { ...strategies, "a forgetful one": [forgetful, ["one"]] as const };
	for (const [name, [execution, script]] of Object.entries(everyStrategy)) {
		test(`is in the state after generate, stream and ask with ${name} [UAP-013]`, async () => {
			const checkpoints = memoryStore();
			const make = () => agent({ model: scriptedModel(script), tools: [look], execution, checkpoints });
			const calls = [
				(one: ReturnType<typeof make>) => one.generate("go", initial),
				(one: ReturnType<typeof make>) => one.stream("go", initial).result,
				(one: ReturnType<typeof make>) => one.ask("go", initial),
			];
			for (const call of calls) {
				const one = make();
				const { state } = await call(one);
				await one.flush();
				const used = checkpoints.saved.splice(0).map(({ id }) => id);
				expect(used.length).toBeGreaterThan(0);
				expect(new Set(used)).toEqual(new Set([state.metadata.sessionId]));
			}
		});
	}

	test("chosen by the caller is used unchanged, by every store and in the state [UAP-137]", async () => {
		const file = fileCheckpoints({ dir: join(folder, "checkpoints") });
		const sqlite = sqliteCheckpoints(join(folder, "checkpoints.db"));
		for (const checkpoints of [memoryStore(), file, sqlite]) {
			const one = agent({ model: scriptedModel(["done"]), checkpoints, sessionId: "my-session" });
			const { state } = await one.generate("go", initial.withMetadata("sessionId", "another"));
			await one.flush();
			expect(state.metadata.sessionId).toBe("my-session");
			expect(await checkpoints.list()).toEqual(["my-session"]);
			expect(await checkpoints.load("my-session")).toEqual(state.toJSON());
		}
		await sqlite.close();
	});

	test("is the restored id even if a strategy or a hook creates its own state", async () => {
		const restored = initial.withMetadata("sessionId", "restored");
		const given = { turn: { response: { text: "instead" } }, state: AgentState.initial() };
		for (const options of [
			{ model: scriptedModel(["one"]), execution: forgetful },
			{ model: scriptedModel([{ error: new Error("no") }]), strategy: { onError: () => given } },
			{ model: scriptedModel(["one"]), middleware: [{ name: "m", after: () => given as never }] },
		]) {
			const checkpoints = memoryStore();
			const one = agent({ ...options, checkpoints });
			const { state } = await one.stream("go", restored).result;
			await one.flush();
			expect(state.metadata.sessionId).toBe("restored");
			for (const { id, state: json } of checkpoints.saved) {
				expect([id, json.metadata.sessionId]).toEqual(["restored", "restored"]);
			}
		}
	});

	test("is the id in the state that a middleware loaded, if that state has one", async () => {
		const checkpoints = memoryStore();
		const load = initial.withMetadata("sessionId", "loaded");
		const one = agent({
			model: scriptedModel(["done"]),
			checkpoints,
			middleware: [{ name: "load", before: (context) => ({ ...context, state: load }) }],
		});
		const { state } = await one.generate("go", initial);
		await one.flush();
		expect(state.metadata.sessionId).toBe("loaded");
		expect(checkpoints.saved.map(({ id }) => id)).toEqual(["loaded"]);
	});

	test("is kept in the saved state if a middleware replaces the state", async () => {
		const checkpoints = memoryStore();
		const one = agent({
			model: scriptedModel(["done"]),
			checkpoints,
			sessionId: "s",
			middleware: [{ name: "forget", before: (context) => ({ ...context, state: AgentState.initial() }) }],
		});
		await one.generate("go", initial);
		await one.flush();
		expect(checkpoints.saved).toMatchObject([{ id: "s", state: { metadata: { sessionId: "s" } } }]);
	});
});

describe("saving", () => {
	test("gives a custom store the id and JSON that fromJSON accepts [UAP-133]", async () => {
		const checkpoints = memoryStore();
		const one = agent({ model: scriptedModel([round, "done"]), tools: [look], checkpoints, sessionId: "s" });
		const { state } = await one.generate("go", initial);
		await one.flush();
		expect(checkpoints.saved.map(({ id }) => id)).toEqual(["s", "s"]);
		expect(checkpoints.saved.map((each) => each.state.messages.length)).toEqual([3, 4]);
		for (const { state: json } of checkpoints.saved) expect(AgentState.fromJSON(json).toJSON()).toEqual(json);
		const restored = AgentState.fromJSON((await checkpoints.load("s")) as AgentStateJSON);
		expect(restored.id).toBe(state.id);
		expect(await checkpoints.list()).toEqual(["s"]);
		await checkpoints.delete("s");
		expect([await checkpoints.load("s"), await checkpoints.list()]).toEqual([null, []]);
	});

	for (const [name, [execution, script]] of Object.entries(strategies)) {
		test.each(["generate", "stream"] as const)(
			`happens once after each step of ${name} with %s, with the whole step [UAP-141]`,
			async (method) => {
				const checkpoints = memoryStore();
				const ends: unknown[] = [];
				const one = agent({
					model: scriptedModel(script),
					tools: [look],
					execution,
					checkpoints,
					sessionId: "s",
					strategy: {
						onStepEnd(step, { state }) {
							ends.push([step, withoutIdentity(state.messages)]);
						},
					},
				});
				const { state } =
					method === "generate" ? await one.generate("go", initial) : await one.stream("go", initial).result;
				await one.flush();
				expect(ends).toHaveLength(2);
				expect(
					checkpoints.saved.map(({ state: json }) => [
						json.step,
						withoutIdentity(AgentState.fromJSON(json).messages),
					]),
				).toEqual(ends);
				for (const { id, state: json } of checkpoints.saved) expect(json.metadata.sessionId).toBe(id);
				expect(lines(AgentState.fromJSON(checkpoints.saved[1]?.state as AgentStateJSON).messages)).toEqual(
					lines(state.messages),
				);
			},
		);
	}

	test("of one session is in order even if the first save takes longer than the others [UAP-142]", async () => {
		const first = Promise.withResolvers<void>();
		const kept = new Map<string, AgentStateJSON>();
		let begun = 0;
		const checkpoints: CheckpointStore = {
			...memoryStore(),
			async save(id, state) {
				if (++begun === 1) await first.promise;
				kept.set(id, state);
			},
			load: async (id) => kept.get(id) ?? null,
		};
		const model = scriptedModel([round, round, "done"]);
		const one = agent({ model, tools: [look], checkpoints, sessionId: "s" });
		const { state } = await one.generate("go", initial);
		expect(kept.size).toBe(0);
		first.resolve();
		await one.flush();
		expect(begun).toBe(3);
		expect(await checkpoints.load("s")).toEqual(state.toJSON());
		expect(state.step).toBe(3);
	});

	for (const [name, [execution, script]] of Object.entries(strategies)) {
		test(`that never settles does not delay a step of ${name} [UAP-143]`, async () => {
			const checkpoints = { ...memoryStore(), save: () => new Promise<void>(() => {}) };
			const make = () => agent({ model: scriptedModel(script), tools: [look], execution, checkpoints });
			expect((await make().generate("go", initial)).state.step).toBe(2);
			const stream = make().stream("go", initial);
			for await (const _ of stream);
			expect((await stream.result).state.step).toBe(2);
		});
	}

	test.each([
		["rejects", () => Promise.reject(new Error("no room"))],
		[
			"throws",
			() => {
				throw new Error("no room");
			},
		],
	])("that %s is logged, does not fail the call, and later steps are saved [UAP-144]", async (_, fail) => {
		const logged = vi.spyOn(console, "error").mockImplementation(() => {});
		const rejections: unknown[] = [];
		const note = (reason: unknown): void => void rejections.push(reason);
		process.on("unhandledRejection", note);
		try {
			for (const method of ["generate", "stream"] as const) {
				const checkpoints = memoryStore();
				const { save } = checkpoints;
				let begun = 0;
				checkpoints.save = (id, state) => (++begun === 1 ? fail() : save(id, state));
				const model = scriptedModel([round, round, "done"]);
				const one = agent({ model, tools: [look], checkpoints, sessionId: "s" });
				const { state } =
					method === "generate" ? await one.generate("go", initial) : await one.stream("go", initial).result;
				expect(state.step).toBe(3);
				await one.flush();
				expect(checkpoints.saved.map((each) => each.state.step)).toEqual([2, 3]);
				expect(logged).toHaveBeenCalledExactlyOnceWith(
					expect.stringContaining('"s"'),
					expect.objectContaining({ message: "no room" }),
				);
				logged.mockClear();
			}
			await new Promise((resolve) => setImmediate(resolve));
			expect(rejections).toEqual([]);
		} finally {
			process.off("unhandledRejection", note);
		}
	});
});

describe("a session that continues in a new process", () => {
	test.each(["file", "sqlite"] as const)(
		"has the earlier messages and its id, with %s [UAP-140]",
		async (kind) => {
			const place = join(folder, kind);
			const sqlite = kind === "sqlite" ? sqliteCheckpoints(place) : undefined;
			const checkpoints = sqlite ?? fileCheckpoints({ dir: place });
			const first = agent({ model: scriptedModel([round, "You are Alice."]), tools: [look], checkpoints });
			const { state } = await first.generate("I am Alice.", initial);
			await first.flush();
			const { sessionId } = state.metadata as { sessionId: string };
			const source = `
			import { agent, AgentState } from "holdfast";
			import { fileCheckpoints } from "@holdfast/stores/checkpoint";
			import { sqliteCheckpoints } from "holdfast/sqlite";
import { scriptedModel } from "@holdfast/testing";
			const checkpoints = ${kind}Checkpoints(${JSON.stringify(kind === "file" ? { dir: place } : place)});
			const model = scriptedModel(["Alice."]);
			const later = agent({ model, checkpoints });
			const [id] = await checkpoints.list();
			const { state } = await later.generate("Who am I?", AgentState.fromJSON(await checkpoints.load(id)));
			await later.flush();
			const request = model.requests[0].messages.map((message) => [message.id, message.type]);
			console.log(JSON.stringify({ request, sessionId: state.metadata.sessionId, sessions: await checkpoints.list() }));
		`;
			const { stdout } = await promisify(execFile)(
				process.execPath,
				["--conditions=holdfast-source", "--no-warnings", "--input-type=module", "-e", source],
				{ cwd: import.meta.dirname },
			);
			const said = JSON.parse(stdout);
			expect(said.request.slice(0, -1)).toEqual(state.messages.map(({ id, type }) => [id, type]));
			expect(said.request.at(-1)[1]).toBe("user");
			expect(said).toMatchObject({ sessionId, sessions: [sessionId] });
			const restored = AgentState.fromJSON((await checkpoints.load(sessionId)) as AgentStateJSON);
			expect(lines(restored.messages).slice(-2)).toEqual(["user: Who am I?", "assistant: Alice."]);
			await sqlite?.close();
		},
	);
});

describe.each(["loop()", "a custom strategy"] as const)("the checkpoints of an agent with %s", (which) => {
	const execution = which === "loop()" ? loop() : custom;

	test("name the agent in their metadata, in files and in SQLite, but not in its state [UAP-135]", async () => {
		const dir = temporaryFolder();
		const files = fileCheckpoints({ dir });
		const sqlite = sqliteCheckpoints(join(dir, "checkpoints.db"));
		for (const store of [files, sqlite]) {
			const one = agent({
				model: scriptedModel(["a", "b"]),
				checkpoints: store,
				sessionId: "s",
				execution,
			});
			const { state } = await one.generate("go", initial);
			await one.flush();
			expect(await store.loadMetadata("s")).toEqual({
				sessionId: "s",
				checkpointId: expect.stringMatching(uuid4),
				timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
				step: state.step,
				agentId: one.id,
			});
			expect(await store.loadMetadata("other")).toBeNull();
			const saved = (await store.load("s")) as AgentStateJSON;
			expect(saved).toEqual(state.toJSON());
			expect(state.metadata).toEqual({ sessionId: "s" });
		}
		await sqlite.close();
		const metadata = JSON.parse(await readFile(join(dir, "s/metadata.json"), "utf8"));
		expect(metadata).toEqual(await files.loadMetadata("s"));
	});
});

test("a custom store gets only the session and the state", async () => {
	const save = vi.fn(async () => {});
	const store = { save, load: async () => null, delete: async () => {}, list: async () => [] };
	const one = agent({ model: scriptedModel(["a"]), checkpoints: store, sessionId: "s" });
	const { state } = await one.generate("go", initial);
	await one.flush();
	expect(save).toHaveBeenCalledExactlyOnceWith("s", state.toJSON());
});
