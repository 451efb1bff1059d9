import { fileCheckpoints } from "@holdfast/stores";
import { describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { AgentState } from "../state/agent-state.ts";
import type { AgentStateJSON } from "../state/agent-state-json.ts";
import { checkpointSaver } from "./checkpoint-saver.ts";
import type { CheckpointStore } from "./checkpoint-store.ts";

const at = (step: number): AgentState => AgentState.initial().withStep(step);

interface Save {
	readonly sessionId: string;
	readonly step: number;
	settle(): void;
	fail(error: unknown): void;
}

/** A store whose saves settle on demand. */
function manualStore(): { store: CheckpointStore; saves: Save[] } {
	const saves: Save[] = [];
	const store: CheckpointStore = {
		save(sessionId, { step }) {
			const { promise, resolve, reject } = Promise.withResolvers<void>();
			saves.push({ sessionId, step, settle: resolve, fail: reject });
			return promise;
		},
		load: async () => null,
		delete: async () => {},
		list: async () => [],
	};
	return { store, saves };
}

const quiet = { log(): void {} };
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a saver of checkpoints", () => {
	test("passes on the first state of a session before it returns", () => {
		const { store, saves } = manualStore();
		checkpointSaver({ store }).save("s", at(1));
		expect(saves.map(({ step }) => step)).toEqual([1]);
	});

	test("saves the states of one session one after the other, and those of different sessions concurrently", async () => {
		const { store, saves } = manualStore();
		const saver = checkpointSaver({ store });
		for (const step of [1, 2, 3]) saver.save("a", at(step));
		saver.save("b", at(9));
		const emitted = (): string[] => saves.map(({ sessionId, step }) => `${sessionId}${step}`);
		expect(emitted()).toEqual(["a1", "b9"]);
		saves[0]?.settle();
		await settled();
		expect(emitted()).toEqual(["a1", "b9", "a2"]);
		saves[2]?.settle();
		await settled();
		expect(emitted()).toEqual(["a1", "b9", "a2", "a3"]);
	});

	test("logs a save that rejects or throws, and saves the next one", async () => {
		const log = vi.fn();
		const answers: (() => Promise<void>)[] = [
			() => Promise.reject(new Error("disk")),
			() => {
				throw new Error("at once");
			},
			() => Promise.resolve(),
		];
		const kept: number[] = [];
		const save = (_: string, { step }: AgentStateJSON): Promise<void> => {
			const answer = answers.shift()?.() as Promise<void>;
			kept.push(step);
			return answer;
		};
		const saver = checkpointSaver({ store: { ...manualStore().store, save }, log });
		for (const step of [1, 2, 3]) saver.save("s", at(step));
		await saver.flush();
		expect(kept).toEqual([1, 3]);
		expect(log.mock.calls).toEqual([
			[expect.stringMatching(/"s" at step 1/), new Error("disk")],
			[expect.stringMatching(/"s" at step 2/), new Error("at once")],
		]);
	});

	test("logs a state that cannot be serialised", async () => {
		const log = vi.fn();
		const saver = checkpointSaver({ store: manualStore().store, log });
		saver.save(
			"s",
			at(1).withMetadata("run", () => 1),
		);
		await saver.flush();
		expect(log).toHaveBeenCalledWith(
			expect.any(String),
			expect.objectContaining({ code: "unserialisable_value" }),
		);
	});

	test("logs to console.error, and ignores errors of a logger", async () => {
		const store = { ...manualStore().store, save: () => Promise.reject(new Error("no")) };
		const logged = vi.spyOn(console, "error").mockImplementation(() => {});
		const saver = checkpointSaver({ store });
		saver.save("s", at(1));
		await saver.flush();
		expect(logged).toHaveBeenCalledOnce();
		logged.mockRestore();
		const careless = checkpointSaver({
			store,
			log() {
				throw new Error("logger");
			},
		});
		careless.save("s", at(1));
		await expect(careless.flush()).resolves.toBeUndefined();
	});

	test("waits in flush for pending states, and does not wait when idle", async () => {
		const { store, saves } = manualStore();
		const saver = checkpointSaver({ store });
		await saver.flush();
		for (const step of [1, 2]) saver.save("s", at(step));
		let isFlushed = false;
		const flushed = saver.flush().then(() => {
			isFlushed = true;
		});
		saves[0]?.settle();
		await settled();
		expect(isFlushed).toBe(false);
		saves[1]?.settle();
		await flushed;
	});

	test("discards the oldest of too many states that wait for a store that hangs, and warns once", async () => {
		const { store, saves } = manualStore();
		const log = vi.fn();
		const saver = checkpointSaver({ store, log, waitingLimit: 2 });
		for (let step = 1; step <= 6; step++) saver.save("s", at(step));
		expect(log).toHaveBeenCalledOnce();
		for (let index = 0; index < 3; index++) {
			saves[index]?.settle();
			await settled();
		}
		expect(saves.map(({ step }) => step)).toEqual([1, 5, 6]);
	});

	test("accepts states from a store while it is saving", async () => {
		const { store } = manualStore();
		const kept: number[] = [];
		const saver = checkpointSaver({
			...quiet,
			store: {
				...store,
				async save(sessionId, { step }) {
					kept.push(step);
					if (step < 3) saver.save(sessionId, at(step + 1));
				},
			},
		});
		saver.save("s", at(1));
		await saver.flush();
		expect(kept).toEqual([1, 2, 3]);
	});

	test("has written un-awaited saves to disk after flush, in files", async () => {
		const store = fileCheckpoints({ dir: temporaryFolder() });
		const saver = checkpointSaver({ store });
		for (let step = 1; step <= 5; step++) saver.save("s", at(step));
		await store.flush();
		expect((await store.load("s"))?.step).toBe(5);
		await store.flush();
	});
});
