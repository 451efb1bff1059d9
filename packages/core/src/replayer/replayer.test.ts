// Code that is run from the record of its calls: divergence, added calls, branches, foreign promises, copies.
import { describe, expect, test } from "vitest";
import type { Branch } from "./branch.ts";
import type { CodeRecord } from "./code-record.ts";
import { nextTurn } from "./recorded-execution.fixture.ts";
import { type CodeProgress, Replayer } from "./replayer.ts";

type Code = (main: Branch<unknown>) => unknown;

const called = (id: string, does = "step"): CodeRecord => ({ kind: "called", id, does });
const settled = (id: string, value: unknown): CodeRecord => ({
	kind: "settled",
	id,
	outcome: { ok: true, value },
});
const failed = (id: string, error: Error): CodeRecord => ({
	kind: "settled",
	id,
	outcome: { ok: false, error },
});

function replayer(run: Code, ...records: readonly CodeRecord[]): Replayer<unknown> {
	const made = new Replayer<unknown>({ run, nextTurn });
	made.take(records);
	return made;
}

function replayed(run: Code, ...records: readonly CodeRecord[]): Promise<CodeProgress<unknown>> {
	return replayer(run, ...records).advance();
}

function idsOf(progress: CodeProgress<unknown>): readonly string[] {
	return progress.kind === "calls" ? progress.calls.map(({ id }) => id) : [progress.kind];
}

describe("an execution", () => {
	test("returns new calls in order, continues in memory, and ends", async () => {
		let starts = 0;
		const execution = replayer(async (main) => {
			starts++;
			const [one, two] = await Promise.all([main.call("a", "step", 1), main.call("a", "step", 2)]);
			return [one, two, await main.call("b", "sleep", 3)];
		});
		expect(await execution.advance()).toEqual({
			kind: "calls",
			calls: [
				{ id: "a#1", does: "step", input: 1 },
				{ id: "a#2", does: "step", input: 2 },
			],
		});
		execution.take([called("a#1"), called("a#2"), settled("a#2", "second")]);
		expect(await execution.advance()).toEqual({ kind: "waits", open: 1 });
		execution.take([settled("a#1", "first")]);
		expect(idsOf(await execution.advance())).toEqual(["b#1"]);
		execution.take([called("b#1", "sleep"), settled("b#1", "third")]);
		const outcome = { ok: true, value: ["first", "second", "third"] };
		expect(await execution.advance()).toEqual({ kind: "ended", outcome, open: [], calls: [] });
		expect(starts).toBe(1);
	});

	test("throws failures in the code, which may catch them", async () => {
		const run: Code = async (main) => {
			await main.call("a", "step", undefined).catch((error) => `caught: ${error.message}`);
			await main.call("b", "step", undefined);
		};
		const down = new Error("down");
		const progress = await replayed(
			run,
			called("a#1"),
			failed("a#1", down),
			called("b#1"),
			failed("b#1", down),
		);
		expect(progress).toEqual({ kind: "ended", outcome: { ok: false, error: down }, open: [], calls: [] });
	});

	test("ends with calls that are not awaited; later calls of their branches are ignored", async () => {
		const run: Code = async (main) => {
			void main.call("lost", "step", undefined).then(() => main.call("later", "step", undefined));
			await main.call("a", "step", undefined);
			void main.call("never recorded", "step", undefined);
		};
		const execution = replayer(run, called("lost#1"), called("a#1"), settled("a#1", 1));
		const outcome = { ok: true, value: undefined };
		expect(await execution.advance()).toMatchObject({ kind: "ended", outcome, open: [{ id: "lost#1" }] });
		execution.take([settled("lost#1", 1)]);
		expect(await execution.advance()).toEqual({ kind: "ended", outcome, open: [], calls: [] });
	});

	test("passes no outcome to unfinished branches once the code has ended, in replays and in the first execution", async () => {
		const run = async (seen: unknown[]): Promise<CodeProgress<unknown>> => {
			const code: Code = async (main) => {
				const failing = main.call("b", "step", 1);
				const unfinished = main.call("b", "step", 2).catch((error) => seen.push(String(error)));
				return Promise.all([failing, unfinished]);
			};
			const execution = replayer(code, called("b#1"), called("b#2"));
			await execution.advance();
			// Both outcomes share an append.
			execution.take([failed("b#1", new Error("first")), failed("b#2", new Error("second"))]);
			const progress = await execution.advance();
			await new Promise<void>((passed) => nextTurn(passed));
			return progress;
		};
		const seen: unknown[] = [];
		expect(await run(seen)).toEqual({
			kind: "ended",
			outcome: { ok: false, error: new Error("first") },
			open: [],
			calls: [],
		});
		expect(seen).toEqual([]);
	});

	test("ends if the code throws before its first call, synchronously or not", async () => {
		const error = new Error("no");
		const sync = await replayed(() => {
			throw error;
		});
		expect(sync).toEqual({ kind: "ended", outcome: { ok: false, error }, open: [], calls: [] });
		expect(await replayed(async () => Promise.reject(error))).toEqual(sync);
	});

	test("gives the code copies, which it may change", async () => {
		const value = { list: [1] };
		const run: Code = async (main) => {
			const given = (await main.call("a", "step", undefined)) as typeof value;
			given.list.push(2);
			return given;
		};
		const progress = await replayed(run, called("a#1"), settled("a#1", value));
		expect(progress).toMatchObject({ outcome: { ok: true, value: { list: [1, 2] } } });
		expect(value).toEqual({ list: [1] });
	});

	test("uses the first outcome of a call that has two", async () => {
		const run: Code = async (main) => [
			await main.call("a", "step", undefined),
			await main.call("b", "step", undefined),
		];
		const records = [called("a#1"), settled("a#1", 1), settled("a#1", 2), called("b#1"), settled("b#1", 3)];
		expect(await replayed(run, ...records)).toMatchObject({ outcome: { value: [1, 3] } });
	});

	test("replays 1,000 calls, and accepts 10,000 at once, in linear time", async () => {
		const times = async (records: readonly CodeRecord[], run: Code): Promise<number> => {
			const began = performance.now();
			expect(await replayed(run, ...records)).toMatchObject({ kind: "ended", outcome: { ok: true } });
			return performance.now() - began;
		};
		const ids = Array.from({ length: 10_000 }, (_, at) => `a#${at + 1}`);
		const sequence = ids.slice(0, 1_000).flatMap((id) => [called(id), settled(id, { id })]);
		await times(sequence, async (main) => {
			for (let at = 0; at < 1_000; at++) await main.call("a", "step", undefined);
		});
		const atOnce = [...ids.map((id) => called(id)), ...ids.map((id) => settled(id, 1))];
		// Quadratic time would take minutes.
		expect(
			await times(atOnce, (main) => Promise.all(ids.map(() => main.call("a", "step", undefined)))),
		).toBeLessThan(20_000);
	});

	test("advances one at a time", async () => {
		const execution = replayer((main) => main.call("a", "step", undefined));
		const first = execution.advance();
		await expect(execution.advance()).rejects.toThrow("already advancing");
		await first;
	});
});

describe("code that contradicts its record", () => {
	const twoSteps: Code = async (main) => {
		await main.call("reserve", "step", undefined);
		await main.call("charge", "step", undefined);
	};
	const began = [called("reserve#1"), settled("reserve#1", 1)];

	test.each<[string, Code, readonly CodeRecord[], object]>([
		[
			"makes another call",
			twoSteps,
			[...began, called("ship#1")],
			{ expected: { id: "ship#1", does: "step" }, came: { id: "charge#1", does: "step" } },
		],
		[
			"makes a call of another kind",
			twoSteps,
			[...began, called("charge#1", "sleep")],
			{ expected: { id: "charge#1", does: "sleep" }, came: { id: "charge#1", does: "step" } },
		],
		[
			"makes its calls in another order",
			twoSteps,
			[called("charge#1")],
			{ expected: { id: "charge#1", does: "step" }, came: { id: "reserve#1", does: "step" } },
		],
		[
			"makes an additional call among those on record",
			(main) => Promise.all(["reserve", "audit", "charge"].map((name) => main.call(name, "step", undefined))),
			[called("reserve#1"), called("charge#1")],
			{ expected: { id: "charge#1", does: "step" }, came: { id: "audit#1", does: "step" } },
		],
		[
			"ends too early",
			async () => "done",
			[called("reserve#1")],
			{ expected: { id: "reserve#1", does: "step" }, came: { end: { ok: true, value: "done" } } },
		],
	])("diverges if it %s", async (_, run, records, divergence) => {
		expect(await replayed(run, ...records)).toEqual({ kind: "diverged", divergence });
	});

	test("is abandoned and cannot catch the divergence", async () => {
		let caught = false;
		const execution = replayer(async (main) => {
			try {
				await main.call("a", "step", undefined);
			} catch {
				caught = true;
			}
		}, called("b#1"));
		const diverged = await execution.advance();
		expect(diverged.kind).toBe("diverged");
		execution.take([called("a#1"), failed("a#1", new Error("late"))]);
		expect(await execution.advance()).toEqual(diverged);
		await execution.moved();
		expect(caught).toBe(false);
	});

	test("does not diverge if a branch runs in another order", async () => {
		const run: Code = async (main) => {
			const [left, right] = [main.branch("side"), main.branch("side")];
			return Promise.all([right.call("x", "step", undefined), left.call("x", "step", undefined)]);
		};
		const records = [
			called("side#1/x#1"),
			called("side#2/x#1"),
			settled("side#1/x#1", "l"),
			settled("side#2/x#1", "r"),
		];
		expect(await replayed(run, ...records)).toMatchObject({ outcome: { value: ["r", "l"] } });
	});
});

describe("a call that earlier versions of the code did not make", () => {
	const run: Code = async (main) => {
		await main.call("a", "step", undefined);
		const isNew = (await main.callIfNew("fix", "version", undefined)) as boolean;
		if (isNew) await main.call("check", "step", undefined);
		return [isNew, await main.branch("rest").call("b", "step", undefined)];
	};
	const first = [called("a#1"), settled("a#1", 1)];
	const rest = [called("rest#1/b#1"), settled("rest#1/b#1", 2)];

	test("is false if the record has passed it, also in a later branch", async () => {
		expect(await replayed(run, ...first, ...rest)).toMatchObject({ outcome: { value: [false, 2] } });
		const inOrder: Code = async (main) => {
			const isNew = await main.callIfNew("fix", "version", undefined);
			return [isNew, await main.call("b", "step", undefined)];
		};
		const old = [called("b#1"), settled("b#1", 2)];
		expect(await replayed(inOrder, ...old)).toMatchObject({ outcome: { value: [false, 2] } });
	});

	test("is false if the record continues after branches that await it", async () => {
		const joined: Code = async (main) => {
			const [left, right] = [main.branch("left"), main.branch("right")];
			const done = left.call("a", "step", undefined).then(() => left.callIfNew("fix", "version", undefined));
			const isNew = await Promise.all([done, right.branch("deep").callIfNew("fix", "version", undefined)]);
			return [isNew, await main.branch("rest").call("b", "step", undefined)];
		};
		const records = [called("left#1/a#1"), settled("left#1/a#1", 1), ...rest];
		expect(await replayed(joined, ...records)).toMatchObject({ outcome: { value: [[false, false], 2] } });
	});

	test("is an ordinary call at the end of the record, and stays one", async () => {
		expect(idsOf(await replayed(run, ...first))).toEqual(["fix#1"]);
		const records = [
			...first,
			called("fix#1", "version"),
			settled("fix#1", true),
			called("check#1"),
			settled("check#1", 1),
		];
		expect(await replayed(run, ...records, ...rest)).toMatchObject({ outcome: { value: [true, 2] } });
	});
});

describe("code that awaits its own promise", () => {
	test("waits without an open call until the promise settles", async () => {
		let release = (_: string): void => {};
		const foreign = new Promise<string>((resolve) => {
			release = resolve;
		});
		const execution = replayer(async (main) => main.call(await foreign, "step", undefined));
		expect(await execution.advance()).toEqual({ kind: "waits", open: 0 });
		const moved = execution.moved();
		release("a");
		await moved;
		expect(idsOf(await execution.advance())).toEqual(["a#1"]);
	});

	test("waits for a recorded call that depends on the promise", async () => {
		let release = (_: string): void => {};
		const foreign = new Promise<string>((resolve) => {
			release = resolve;
		});
		const run: Code = async (main) =>
			Promise.all([
				main.call("a", "step", undefined),
				foreign.then((name) => main.branch("side").call(name, "step", undefined)),
			]);
		const side = "side#1/b#1";
		const execution = replayer(run, called("a#1"), called(side), settled("a#1", 1), settled(side, 2));
		const expected = { id: side, does: "step" };
		expect(await execution.advance()).toEqual({ kind: "waits", open: 1, expected });
		const moved = execution.moved();
		release("b");
		await moved;
		expect(await execution.advance()).toMatchObject({ outcome: { value: [1, 2] } });
	});
});
