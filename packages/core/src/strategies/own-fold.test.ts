// A strategy's own fold of a run is the same whether or not the run was interrupted and resumed.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { agent } from "../agent/agent.ts";
import type { Decider } from "../engine/index.ts";
import { memoryHost } from "../host/index.ts";
import type { Interceptor } from "../policy/interceptor.ts";
import { strategy } from "./strategy.ts";

interface Seen {
	readonly kinds: readonly string[];
	readonly answers: number;
}

/** Never asked. */
const model = scriptedModel([]);

/** Asks three questions, one after the other; only its own fold knows which were asked. */
function threeQuestions(
	answer: (n: number, signal: AbortSignal) => unknown,
	received: Seen[] = [],
): Decider<Seen> {
	return {
		name: "three questions",
		initial: () => ({ kinds: [], answers: 0 }),
		evolve: ({ kinds, answers }, { fact }) => ({
			kinds: [...kinds, fact.kind === "note" ? `note:${fact.topic}` : fact.kind],
			answers: answers + (fact.kind === "decision" ? 1 : 0),
		}),
		decide({ own }) {
			received.push(own);
			if (own.answers === 3) return { kind: "finish" };
			return { kind: "ask", topic: "n", question: (_, { signal }) => answer(own.answers, signal) };
		},
	};
}

test("a strategy with its own fold has the same data after a resume as without an interruption", async () => {
	const alone: Seen[] = [];
	const answered = (n: number): number => n;
	await agent({ model, execution: strategy(threeQuestions(answered, alone)) })
		.session("s")
		.send("go")
		.then((run) => run.result());
	expect(alone.at(-1)).toEqual({
		kinds: ["run.started", "input", "decision", "decision", "decision"],
		answers: 3,
	});

	const host = memoryHost();
	const never = new Promise(() => {});
	const asked: number[] = [];
	const before = agent({
		model,
		execution: strategy(
			threeQuestions((n) => {
				asked.push(n);
				return n === 1 ? never : n;
			}),
		),
		host,
	});
	const run = await before.session("s").send("go");
	const result = run.result();
	await expect.poll(() => asked).toEqual([0, 1]);
	run.suspend();
	expect((await result).outcome).toBe("suspended");
	await before.close();
	const resumed: Seen[] = [];
	const after = agent({ model, execution: strategy(threeQuestions(answered, resumed)), host });
	expect((await (await after.session("s").resume())?.result())?.outcome).toBe("completed");
	expect(resumed[0]).toEqual({ kinds: ["run.started", "input", "decision", "run.resumed"], answers: 1 });
	expect(resumed.at(-1)?.answers).toBe(3);
});

test("each run starts with its own fold", async () => {
	const received: Seen[] = [];
	const session = agent({ model, execution: strategy(threeQuestions((n) => n, received)) }).session("s");
	await (await session.send("one")).result();
	await (await session.send("two")).result();
	expect(received.filter(({ answers }) => answers === 0)).toHaveLength(2);
});

test("its own fold also works in plain calls, and does not contain policy's notes", async () => {
	const received: Seen[] = [];
	const audit: Interceptor = {
		name: "audit",
		admitWaiting: "as-is",
		begin: () => ({ admit: () => ({ notes: [{ topic: "audit", value: 1 }] }), deltas: "as-is" }),
	};
	await agent({
		model,
		execution: strategy(threeQuestions((n) => n, received)),
		middleware: [audit],
		tools: [anyTool("work", () => 1)],
	}).query("go");
	expect(received.at(-1)?.kinds.filter((kind) => kind.startsWith("note"))).toEqual([]);
	expect(received.at(-1)?.answers).toBe(3);
});

test("a fold that throws fails the run with its error, and committed entries are read", async () => {
	const host = memoryHost();
	const broken: Decider<number> = {
		...threeQuestions((n) => n),
		initial: () => 0,
		evolve(_, { fact }) {
			if (fact.kind === "decision") throw new Error("cannot count");
			return 0;
		},
		decide: () => ({ kind: "ask", topic: "n", question: () => 1 }),
	};
	const one = agent({ model, execution: strategy(broken), host });
	const run = await one.session("s").send("go");
	await expect(run.result()).resolves.toMatchObject({ outcome: "error", error: { message: "cannot count" } });
	expect((await host.journal.read("s")).map(({ fact }) => fact.kind)).toEqual([
		"run.started",
		"input",
		"decision",
		"run.ended",
	]);
});

test("a question gets a signal that aborts when the run is stopped", async () => {
	const signals: AbortSignal[] = [];
	const asked = strategy(
		threeQuestions((_, signal) => {
			signals.push(signal);
			return new Promise(() => {});
		}),
	);
	const run = await agent({ model, execution: asked }).session("s").send("go");
	const result = run.result();
	await expect.poll(() => signals.length).toBe(1);
	expect(signals[0]?.aborted).toBe(false);
	run.interrupt();
	expect((await result).outcome).toBe("aborted");
	expect(signals[0]?.aborted).toBe(true);
});

test("a strategy also has its own fold under a limit of steps, and with an output", async () => {
	const steps = strategy<number>({
		name: "counts answers",
		initial: () => 0,
		evolve: (own, { fact }) => own + (fact.kind === "assistant" ? 1 : 0),
		decide: ({ own }) =>
			own === 2 ? { kind: "finish" } : { kind: "model", tag: "act", step: "next", afterwards: "continues" },
	});
	const replies = ["one", '{"n":2}'];
	for (const options of [{ maxSteps: 3 }, { output: { type: "object" } }]) {
		const one = agent({ model: scriptedModel(replies), execution: steps, ...options });
		expect((await one.query("go")).response.text).toBe('{"n":2}');
	}
});

test("an interceptor sees the strategy's fold, including the fact that it is notified of", async () => {
	const folded: unknown[] = [];
	const looks: Interceptor = {
		name: "looks",
		begin: (run) => ({
			committed: ({ fact }) => void (fact.kind === "run.ended" && folded.push(run.folded())),
		}),
	};
	const counting = (evolve: (own: number) => number): Decider<number> => ({
		name: "counts facts",
		initial: () => 0,
		evolve,
		decide: () => ({ kind: "finish" }),
	});
	const failing = (): never => {
		throw new Error("no");
	};
	for (const evolve of [(own: number) => own + 1, failing]) {
		const one = agent({ model, execution: strategy(counting(evolve)), middleware: [looks] });
		await (await one.session("s").send("go")).result();
		await one.query("go").catch(() => {});
	}
	expect(folded).toEqual([3, 3, undefined, undefined]);
});
