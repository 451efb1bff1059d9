// Costs, told by ratios: the machine is shared, so each figure is the best of several.
import { UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { AgentState } from "./index.ts";

function best(runs: number, work: () => void): number {
	let fastest = Number.POSITIVE_INFINITY;
	for (let run = 0; run < runs; run++) {
		const start = performance.now();
		work();
		fastest = Math.min(fastest, performance.now() - start);
	}
	return fastest;
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

test("appending 20,000 messages one by one takes about twice as long as 10,000 [UAP-065]", {
	timeout: 60_000,
}, () => {
	const half = best(7, () => grow(10_000));
	const whole = best(7, () => grow(20_000));
	// Copying the history with each append would take four times as long.
	expect(whole / half).toBeLessThan(3.2);

	const states = grow(10_000);
	for (const at of [0, 1, 999, 5_000, 10_000]) {
		const { messages } = states[at] as AgentState;
		expect(messages).toHaveLength(at);
		expect(messages.at(-1)?.id).toBe(at === 0 ? undefined : String(at - 1));
	}
});

test("a state of 10,000 messages forks as fast as one of 10", { timeout: 60_000 }, () => {
	const [small, large] = [grow(10).at(-1), grow(10_000).at(-1)] as [AgentState, AgentState];
	const message = new UserMessage("fork");
	const forks = (state: AgentState): void => {
		state.withMessage(message);
		for (let fork = 0; fork < 2_000; fork++) state.withMessage(message).withStep(1).withReasoning("r");
	};
	// Copying would be some 500 times slower.
	expect(best(7, () => forks(large)) / best(7, () => forks(small))).toBeLessThan(10);
	expect(large.withMessage(message).messages).toHaveLength(10_001);
	expect(large.messages).toHaveLength(10_000);
});
