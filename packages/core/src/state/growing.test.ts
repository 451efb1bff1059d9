// Costs, given as ratios: the machine is shared, so each figure is the best of several rounds.
import { UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { AgentState } from "./agent-state.ts";

/** The best times of two pieces of work, taken in turns so that a busy moment hits both. */
function best(rounds: number, one: () => void, other: () => void): [number, number] {
	const times: [number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
	for (let round = 0; round < rounds; round++) {
		for (const [index, work] of [one, other].entries()) {
			const start = performance.now();
			work();
			times[index as 0 | 1] = Math.min(times[index as 0 | 1], performance.now() - start);
		}
	}
	return times;
}

function grow(messages: number): AgentState[] {
	const states = [AgentState.initial()];
	for (let index = 0; index < messages; index++) {
		states.push(
			(states.at(-1) as AgentState).withMessage(new UserMessage(String(index), { id: String(index) })),
		);
	}
	return states;
}

/** Appends one message so often, and keeps the last state only. */
function append(times: number): void {
	const message = new UserMessage("again");
	let state = AgentState.initial();
	for (let index = 0; index < times; index++) state = state.withMessage(message);
}

test("appending messages one by one takes time in proportion to their number [UAP-065]", () => {
	const [few, many] = best(
		12,
		() => append(5_000),
		() => append(40_000),
	);
	// Eight times as many. Copying the history with each append would take 64 times as long.
	expect(many / few).toBeLessThan(24);

	const states = grow(10_000);
	for (const at of [0, 1, 999, 5_000, 10_000]) {
		const { messages } = states[at] as AgentState;
		expect(messages).toHaveLength(at);
		expect(messages.at(-1)?.id).toBe(at === 0 ? undefined : String(at - 1));
	}
});

test("a state of 10,000 messages forks as fast as one of 10", () => {
	const [small, large] = [grow(10).at(-1), grow(10_000).at(-1)] as [AgentState, AgentState];
	const message = new UserMessage("fork");
	const forks = (state: AgentState): void => {
		state.withMessage(message);
		for (let fork = 0; fork < 2_000; fork++) state.withMessage(message).withStep(1).withReasoning("r");
	};
	// Copying would be some 500 times slower.
	const [short, long] = best(
		7,
		() => forks(small),
		() => forks(large),
	);
	expect(long / short).toBeLessThan(10);
	expect(large.withMessage(message).messages).toHaveLength(10_001);
	expect(large.messages).toHaveLength(10_000);
});
