// The contract of checkpoint stores, as a list of cases for any test runner. Each case gets a separate location.
import { AssistantMessage, UserMessage } from "@holdfast/upp";
import { AgentState, type AgentStateJSON } from "holdfast";
import type { CheckpointStore } from "holdfast/checkpoint";
import type { ContractCase } from "../contract/index.ts";

/** A location for checkpoints. */
export interface CheckpointStoreWorld {
	/** Creates a store over the location; checkpoints saved by one store are visible to the others. */
	store(): CheckpointStore | Promise<CheckpointStore>;
	/** Removes the location. */
	end(): void | Promise<void>;
}

/** Options of `checkpointStoreContract`. */
export interface CheckpointStoreContractOptions {
	/** Prefix of each case's name. */
	readonly name: string;
	/** Creates an empty location. */
	make(): CheckpointStoreWorld | Promise<CheckpointStoreWorld>;
}

/**
 * Returns the cases that a checkpoint store must pass. Works with any test runner: pass each case's `name` and `run` to
 * yours.
 * @example
 * import type { AgentStateJSON } from "holdfast";
 * import type { CheckpointStore } from "holdfast/checkpoint";
 *
 * const make = () => {
 * 	const kept = new Map<string, AgentStateJSON>();
 * 	const store: CheckpointStore = {
 * 		save: async (sessionId, state) => void kept.set(sessionId, structuredClone(state)),
 * 		load: async (sessionId) => structuredClone(kept.get(sessionId) ?? null),
 * 		delete: async (sessionId) => void kept.delete(sessionId),
 * 		list: async () => [...kept.keys()],
 * 	};
 * 	return { store: () => store, end() {} };
 * };
 * for (const { run } of checkpointStoreContract({ name: "in memory", make })) await run();
 */
export function checkpointStoreContract(options: CheckpointStoreContractOptions): readonly ContractCase[] {
	return cases.map(({ title, run }) => ({
		name: `${options.name}: ${title}`,
		async run() {
			const world = await options.make();
			try {
				await run(await world.store(), world);
			} finally {
				await world.end();
			}
		},
	}));
}

interface WrittenCase {
	readonly title: string;
	run(store: CheckpointStore, world: CheckpointStoreWorld): Promise<void>;
}

/**
 * Ids with a special meaning in file systems, databases or patterns. A store may reject them, but must not confuse them.
 */
export const oddIds: readonly string[] = [
	"",
	"a",
	"a/b",
	"a\\b",
	"a:b",
	"../a",
	"..",
	".",
	".hidden",
	"dot.",
	"/etc/passwd",
	"C:\\x",
	"con",
	"nul.txt",
	"a\0",
	"a\nb",
	"a b",
	" a",
	"a*",
	"%",
	"%2e%2e",
	"%002e",
	"$&",
	"__proto__",
	"checkpoint.json",
	"😀",
	"\u00e9",
	"e\u0301",
	`${"k".repeat(3_000)}1`,
	`${"k".repeat(3_000)}2`,
];

const cases: readonly WrittenCase[] = [
	{
		title: "a session that was never saved loads null, and deleting it has no effect",
		async run(store) {
			same(await store.load("unknown"), null, "load");
			await store.delete("unknown");
			same(await store.list(), [], "list");
		},
	},
	{
		title: "every store over the same location loads the last saved state",
		async run(store, world) {
			await store.save("s", stateOf(1));
			await store.save("s", stateOf(2));
			same(await store.load("s"), stateOf(2), "load");
			const other = await world.store();
			same(await other.load("s"), stateOf(2), "load by another store");
			await other.save("s", stateOf(3));
			same(await store.load("s"), stateOf(3), "load of a state that another store saved");
		},
	},
	{
		title: "a state is loaded as it was saved: texts, numbers, bytes, unusual keys",
		async run(store) {
			const state = AgentState.initial()
				.withMessages([
					new UserMessage([
						{ type: "text", text: "ä😀\u0000\ud83d" },
						{ type: "binary", data: new Uint8Array([0, 255, 13, 10]), mimeType: "application/octet-stream" },
					]),
					new AssistantMessage("", [
						{ toolCallId: "c", toolName: "t", arguments: { deep: [0.1, null, -0] } },
					]),
				])
				.withMetadata("__proto__", { $holdfast: "mine" })
				.withMetadata("sessionId", "s");
			await store.save("s", state.toJSON());
			const loaded = (await store.load("s")) as AgentStateJSON;
			same(loaded, state.toJSON(), "load");
			same(AgentState.fromJSON(loaded).toJSON(), state.toJSON(), "the state restored");
		},
	},
	{
		title: "changes to a state after it was saved or loaded do not affect the stored state",
		async run(store) {
			const json = stateOf(1);
			const saved = store.save("s", json);
			json.step = 99;
			await saved;
			const loaded = (await store.load("s")) as AgentStateJSON;
			loaded.step = 98;
			same(await store.load("s"), stateOf(1), "load");
		},
	},
	{
		title: "after saves that were not awaited, the last one is stored",
		async run(store) {
			await Promise.all([1, 2, 3, 4, 5].map((step) => store.save("s", stateOf(step, 2_000 * (6 - step)))));
			same(((await store.load("s")) as AgentStateJSON).step, 5, "step");
		},
	},
	{
		title: "deleting removes only one session, which can be saved again",
		async run(store) {
			for (const id of ["a", "ab", "a.b"]) await store.save(id, stateOf(1));
			await store.delete("a");
			same(await store.load("a"), null, "load of the deleted one");
			same((await store.list()).sort(), ["a.b", "ab"], "list");
			await store.save("a", stateOf(2));
			same(await store.load("a"), stateOf(2), "load after saving again");
			same((await store.list()).sort(), ["a", "a.b", "ab"], "list after saving again");
		},
	},
	{
		title: "ids of any kind stay different and are listed unchanged, or are refused",
		async run(store) {
			const kept: string[] = [];
			for (const [step, id] of oddIds.entries()) {
				const wasKept = await store.save(id, stateOf(step)).then(
					() => true,
					() => false,
				);
				if (wasKept) kept.push(id);
			}
			for (const [step, id] of oddIds.entries()) {
				if (kept.includes(id)) same(await store.load(id), stateOf(step), `load of ${JSON.stringify(id)}`);
			}
			same((await store.list()).sort(), [...kept].sort(), "list");
			for (const id of kept) await store.delete(id);
			same(await store.list(), [], "list after deleting all");
		},
	},
	{
		title: "concurrent saving, loading and deleting never yields a partial state",
		async run(store, world) {
			const stores = [store, await world.store()];
			const work: Promise<unknown>[] = [];
			for (let step = 0; step < 60; step++) {
				const one = stores[step % 2] as CheckpointStore;
				const id = `s${step % 3}`;
				work.push(one.save(id, stateOf(step, 20_000)));
				if (step % 7 === 0) work.push(one.delete(id));
				work.push(one.load(id).then(expectWhole));
			}
			await Promise.all(work);
			for (const id of ["s0", "s1", "s2"]) expectWhole(await store.load(id));
		},
	},
];

/** Creates a state in which every part shows its step. */
export function stateOf(step: number, length = 10): AgentStateJSON {
	const text = `${step}.`.padEnd(length, `${step % 10}`);
	return {
		version: "1.0.0",
		id: `state-${step}`,
		messages: [
			{
				id: `message-${step}`,
				type: "user",
				content: [{ type: "text", text }],
				timestamp: "2024-01-01T00:00:00.000Z",
			},
		],
		step,
		metadata: { step },
		reasoning: [],
	};
}

/** Throws unless the argument is null or a state whose parts all belong to one step. */
export function expectWhole(loaded: AgentStateJSON | null): void {
	if (loaded === null) return;
	const [block] = loaded.messages[0]?.content ?? [];
	const { text } = block as { text: string };
	same(loaded, stateOf(loaded.step, text.length), "a state loaded in between");
}

function same(actual: unknown, expected: unknown, what: string): void {
	const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)];
	if (is !== should) throw new Error(`${what}: expected ${should?.slice(0, 500)}, got ${is?.slice(0, 500)}`);
}
