// The checker itself: it accepts possible histories of a journal and rejects impossible ones.
import { memoryHost } from "holdfast";
import { describe, expect, test } from "vitest";
import { append, begin, ended as endedFact, note } from "../cases.ts";
import {
	checkLinearizable,
	type HistoryLine,
	type Operation,
	operationsOf,
	recordHistory,
	type SequentialModel,
	type SessionOperation,
	type SessionOutcome,
	sessionModel,
} from "./index.ts";

type Of = Operation<SessionOperation, SessionOutcome>;
const unknown = Number.POSITIVE_INFINITY;

/** Creates an append of a lease with an epoch and facts; `seq` if it was acknowledged. */
function appended(
	begun: number,
	ended: number,
	[lease, epoch, facts]: [string, number, string],
	seq?: number,
): Of {
	return {
		begun,
		ended,
		input: { kind: "append", lease, epoch, facts: [...facts] },
		output:
			seq === undefined
				? ended === unknown
					? undefined
					: { kind: "refused" }
				: { kind: "appended", seq, epoch },
	};
}

function read(begun: number, ended: number, facts: string, after = 0): Of {
	return { begun, ended, input: { kind: "read", after }, output: { kind: "read", facts: [...facts] } };
}

const judge = (...history: Of[]): boolean => checkLinearizable(history, sessionModel).ok;

describe("accepted is", () => {
	test("an empty history, and one writer after the other", () => {
		expect(judge()).toBe(true);
		expect(
			judge(
				appended(0, 1, ["A", 1, "ab"], 2),
				appended(2, 3, ["A", 1, "c"], 3),
				read(4, 5, "abc"),
				read(4, 5, "c", 2),
			),
		).toBe(true);
	});

	test("a takeover while the former owner appends, in either order", () => {
		const first = appended(0, 1, ["A", 1, "a"], 1);
		expect(judge(first, appended(2, 9, ["A", 1, "b"], 2), appended(3, 8, ["B", 2, "c"], 3))).toBe(true);
		expect(judge(first, appended(2, 9, ["A", 1, "b"]), appended(3, 8, ["B", 2, "c"], 2))).toBe(true);
	});

	test("an append with an unknown outcome, which took effect at once, later, or never", () => {
		const lost = appended(0, unknown, ["A", 1, "a"]);
		expect(judge(lost, read(1, 2, "a"))).toBe(true);
		expect(judge(lost, read(1, 2, ""), read(3, 4, "a"))).toBe(true);
		expect(judge(lost, read(1, 2, ""), appended(3, 4, ["B", 2, "b"], 1), read(5, 6, "b"))).toBe(true);
	});

	test("many at once, in their only possible order, in no more time than that needs", () => {
		const facts = Array.from({ length: 400 }, (_, number) => String.fromCharCode(0x4e00 + number)).join("");
		const inOrder = [...facts].map((fact, at) => appended(at, at + 9, ["A", 1, fact], at + 1));
		const lost = Array.from({ length: 20 }, (_, at) => appended(at, unknown, [`L${at}`, 1, "x"]));
		expect(judge(...inOrder.toReversed(), ...lost, read(1_000, 1_001, facts))).toBe(true);
	});
});

describe("rejected is", () => {
	test("an epoch with two owners", () => {
		expect(judge(appended(0, 1, ["A", 1, "a"], 1), appended(2, 3, ["B", 1, "b"], 2))).toBe(false);
		expect(judge(appended(0, 9, ["A", 1, "a"], 1), appended(0, 9, ["B", 1, "b"], 2))).toBe(false);
	});

	test("an append by an owner that was fenced before it started", () => {
		const taken = [appended(0, 1, ["A", 1, "a"], 1), appended(2, 3, ["B", 2, "b"], 2)];
		expect(judge(...taken, appended(4, 5, ["A", 1, "c"], 3))).toBe(false);
		expect(judge(...taken, appended(4, 5, ["A", 1, "c"]))).toBe(true);
	});

	test("an acknowledged append that is lost", () => {
		const both = [appended(0, 1, ["A", 1, "a"], 1), appended(2, 3, ["A", 1, "b"], 2)];
		expect(judge(...both, read(4, 5, "a"))).toBe(false);
		expect(judge(...both, appended(4, 5, ["B", 2, "c"], 2))).toBe(false);
	});

	test("an append that was rejected and is present, or took effect twice", () => {
		expect(judge(appended(0, 1, ["A", 1, "a"]), read(2, 3, "a"))).toBe(false);
		expect(judge(appended(0, 1, ["A", 1, "a"], 1), read(2, 3, "aa"))).toBe(false);
		expect(judge(appended(0, unknown, ["A", 1, "a"]), read(2, 3, "aa"))).toBe(false);
	});

	test("a read of old data, of future data, and of contradictory data", () => {
		const both = [appended(0, 1, ["A", 1, "a"], 1), appended(4, 5, ["A", 1, "b"], 2)];
		expect(judge(...both, read(6, 7, "a"))).toBe(false);
		expect(judge(...both, read(2, 3, "ab"))).toBe(false);
		expect(judge(...both, read(2, 7, "ab"), read(8, 9, "a"))).toBe(false);
	});

	test("an epoch that decreases", () => {
		expect(judge(appended(0, 1, ["A", 5, "a"], 1), appended(2, 3, ["B", 4, "b"], 2))).toBe(false);
	});

	test("a failure reports how far it got, and what could not be next", () => {
		const bad = appended(2, 3, ["B", 1, "b"], 2);
		const found = checkLinearizable([appended(0, 1, ["A", 1, "a"], 1), bad], sessionModel);
		expect(found).toMatchObject({ ok: false, state: { owner: "A", facts: ["a"] }, stuck: [bad] });
	});
});

test("the search agrees with all orders tried one by one", () => {
	type Write = Operation<number | "read", number>;
	const register: SequentialModel<number, number | "read", number> = {
		initial: 0,
		step: (state, input, output) =>
			input !== "read" ? input : output === undefined || output === state ? state : undefined,
		keyOf: String,
	};
	function possible(left: readonly Write[], state: number): boolean {
		if (left.every(({ ended }) => ended === unknown)) return true;
		const firstEnd = Math.min(...left.map(({ ended }) => ended));
		return left.some((each) => {
			if (each.begun > firstEnd) return false;
			const after = register.step(state, each.input, each.output);
			return (
				after !== undefined &&
				possible(
					left.filter((other) => other !== each),
					after,
				)
			);
		});
	}
	let seed = 7;
	const random = (below: number): number => {
		seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
		return Math.floor((seed / 2_147_483_648) * below);
	};
	const verdicts = new Set<boolean>();
	for (let round = 0; round < 2_000; round++) {
		const history = Array.from({ length: 6 }, (): Write => {
			const begun = random(12);
			const ended = random(5) === 0 ? unknown : begun + random(6);
			const value = random(3);
			return random(2) === 0
				? { begun, ended, input: value, output: ended === unknown ? undefined : value }
				: { begun, ended, input: "read", output: ended === unknown ? undefined : value };
		});
		const { ok } = checkLinearizable(history, register);
		expect(ok, JSON.stringify(history)).toBe(possible(history, 0));
		verdicts.add(ok);
	}
	expect(verdicts.size).toBe(2);
});

test("a journal's operations are recorded: a lease with its epoch, acknowledged appends, and reads", async () => {
	const lines: HistoryLine[] = [];
	const journal = recordHistory(memoryHost().journal, (line) => lines.push(line));
	const lease = await begin(journal, "s");
	await append(lease, "run-1", note(1));
	await append(lease, "run-1", endedFact);
	await journal.read("s");
	await journal.close();
	const history = operationsOf(lines).get("s") ?? [];
	expect(history.map(({ input }) => input.kind)).toEqual(["append", "append", "append", "read"]);
	expect(history.at(-1)?.output).toMatchObject({ kind: "read", facts: { length: 3 } });
	expect(checkLinearizable(history, sessionModel)).toEqual({ ok: true });
	const [first] = history;
	expect(checkLinearizable(history.slice(1), sessionModel).ok).toBe(false);
	expect(first?.output).toMatchObject({ kind: "appended", seq: 1 });
});
