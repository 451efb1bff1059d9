import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent, agent } from "../agent/agent.ts";
import { memoryHost } from "../host/memory-host.ts";
import { type Ports, systemPorts } from "../host/ports.ts";
import { AgentState } from "../state/agent-state.ts";
import { Fairness } from "./fairness.ts";

const manySteps = 10_000;

/** An agent whose model calls a tool repeatedly, both without any delay. */
function busy(ports: Partial<Ports> = {}, stepped: () => void = () => {}) {
	let steps = 0;
	const model = scriptedModel(() => {
		stepped();
		return ++steps < manySteps ? { toolCalls: [{ name: "look" }] } : "Done.";
	});
	const one = agent({ model, tools: [anyTool("look", () => "seen")], ports });
	return { one, steps: () => steps };
}

/** A clock that advances with each step, and an event loop that runs due work when all runs wait for it. */
function countedTime() {
	let time = 0;
	let turns = 0;
	const timers: { at: number; wake(): void }[] = [];
	const ports: Partial<Ports> = {
		clock: { now: () => time, monotonic: () => time },
		eventLoop: {
			whenTurned: (passed) => void setImmediate(passed),
			nextTurn: (passed) =>
				void setImmediate(() => {
					turns++;
					for (const timer of timers.splice(0))
						if (timer.at <= time) timer.wake();
						else timers.push(timer);
					passed();
				}),
		},
	};
	return {
		ports,
		pass(milliseconds: number): void {
			time += milliseconds;
		},
		turns: () => turns,
		after: (at: number, wake: () => void) => void timers.push({ at, wake }),
	};
}

describe("a run whose model and tools answer immediately", () => {
	test("yields to the event loop once in 10 ms of unbroken work, and no more often", async () => {
		const time = countedTime();
		const { one } = busy(time.ports, () => time.pass(1));
		await one.generate("go");
		expect(time.turns()).toBe(manySteps / 10);
	});

	test("is ended by a timer's abort in the first turn after it was due", async () => {
		const time = countedTime();
		const { one, steps } = busy(time.ports, () => time.pass(1));
		const stop = new AbortController();
		time.after(20, () => stop.abort());
		const result = one.generate("go", AgentState.initial(), { signal: stop.signal });
		await expect(result).rejects.toMatchObject({ code: "CANCELLED" });
		expect(steps()).toBeLessThanOrEqual(32);
	});

	test("is ended by a real timer, as is its stream", async () => {
		for (const way of ["generate", "stream"] as const) {
			const { one, steps } = busy();
			const stop = new AbortController();
			setTimeout(() => stop.abort(), 20);
			const call = one[way]("go", AgentState.initial(), { signal: stop.signal });
			const result = "result" in call ? call.result : call;
			await expect(result).rejects.toMatchObject({ code: "CANCELLED" });
			expect(steps()).toBeLessThan(manySteps);
		}
	});

	test("lets timers fire while one answer of very many deltas is streamed", async () => {
		let fired = 0;
		const timer = setInterval(() => fired++, 1);
		const { result } = agent({ model: scriptedModel(["word ".repeat(50_000)]) }).stream("go");
		await result;
		clearInterval(timer);
		expect(fired).toBeGreaterThan(0);
	});

	test("lets timers fire while a tool yields very many pieces", async () => {
		let fired = 0;
		const timer = setInterval(() => fired++, 1);
		const talk = anyTool("talk", async function* () {
			for (let at = 0; at < 50_000; at++) yield "word ";
		});
		const model = scriptedModel([{ toolCalls: [{ name: "talk" }] }, "Done."]);
		await agent({ model, tools: [talk] }).generate("go");
		clearInterval(timer);
		expect(fired).toBeGreaterThan(0);
	});
});

test("waiting work continues in order, each as far as possible; interrupted work starts again", async () => {
	const time = countedTime();
	const fairness = new Fairness(time.ports as Ports);
	expect(fairness.pause()).toBeUndefined();
	time.pass(9.9);
	expect(fairness.pause()).toBeUndefined();
	time.pass(0.1);
	const log: string[] = [];
	const work = async (name: string, takes: number): Promise<void> => {
		await fairness.pause();
		log.push(`${name} begins`);
		time.pass(takes);
		for (let turn = 0; turn < 9; turn++) await undefined;
		log.push(`${name} rests`);
	};
	await Promise.all([work("one", 1), work("two", 20), work("three", 1)]);
	expect(log).toEqual(["one", "two", "three"].flatMap((name) => [`${name} begins`, `${name} rests`]));
	// The second took so long that the third had to wait for another turn.
	expect(time.turns()).toBe(4);
	await new Promise((resolve) => setImmediate(resolve));
	time.pass(60_000);
	expect(fairness.pause()).toBeUndefined();
});

test("work that started in an earlier turn of the event loop does not count", async () => {
	const fairness = new Fairness(systemPorts);
	for (let at = 0; at < 8; at++) expect(fairness.begin()).toBeUndefined();
	await new Promise((resolve) => setImmediate(resolve));
	expect(fairness.begin()).toBeUndefined();
});

test("sessions that start together do not run in lockstep: each proceeds as far as possible before the next starts", async () => {
	const asked: string[] = [];
	const model = scriptedModel(({ messages }) => {
		const { text } = messages[0] as unknown as { text: string };
		asked.push(text);
		return messages.length === 1 ? { toolCalls: [{ name: "look", arguments: {} }] } : { text: "done" };
	});
	// No time passes, so that nothing is overdue on a slow machine.
	const { ports } = countedTime();
	const agent = new Agent({ model, tools: [anyTool("look", () => "seen")], host: memoryHost(), ports });
	const keys = ["one", "two", "three"];
	await Promise.all(keys.map(async (key) => (await agent.session(key).send(key)).result()));
	expect(asked).toEqual(["one", "one", "two", "two", "three", "three"]);
	await agent.close();
});

test("timers fire while very many sessions start together", async () => {
	const fired: number[] = [];
	const agent = new Agent({ model: scriptedModel(() => "done") });
	let ended = 0;
	const timer = setInterval(() => fired.push(ended), 1);
	await Promise.all(
		Array.from({ length: 2_000 }, async (_, at) => {
			await (await agent.session(`${at}`).send("go")).result();
			ended++;
		}),
	);
	clearInterval(timer);
	expect(fired.filter((at) => at > 0 && at < 2_000).length).toBeGreaterThan(0);
	await agent.close();
});

test("calls that start together do not run in lockstep, except the first few, which start before generate() returns", async () => {
	const asked: string[] = [];
	const model = scriptedModel(({ messages }) => {
		const { text } = messages[0] as unknown as { text: string };
		asked.push(text);
		return messages.length === 1 ? { toolCalls: [{ name: "look", arguments: {} }] } : { text: "done" };
	});
	const ports = { clock: { now: () => 0, monotonic: () => 0 } };
	const one = agent({ model, tools: [anyTool("look", () => "seen")], ports });
	const calls = Array.from({ length: 12 }, (_, at) => one.generate(`${at}`));
	await Promise.all(calls);
	expect(asked.slice(0, 8)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
	expect(asked.slice(16)).toEqual(["8", "8", "9", "9", "10", "10", "11", "11"]);
});
