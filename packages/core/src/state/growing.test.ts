// The cost of growing and forking a state.
import { UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import { AgentState } from "./agent-state.ts";

function grow(messages: number): AgentState[] {
	const states = [AgentState.initial()];
	for (let index = 0; index < messages; index++) {
		states.push(
			(states.at(-1) as AgentState).withMessage(new UserMessage(String(index), { id: String(index) })),
		);
	}
	return states;
}

/** Appends one message this many times, and keeps only the last state. */
function append(times: number): void {
	const message = new UserMessage("again");
	let state = AgentState.initial();
	for (let index = 0; index < times; index++) state = state.withMessage(message);
}

test("appending messages one by one takes time in proportion to their number [UAP-065]", async () => {
	await expectProportion(40_000, (times) => () => append(times));

	const states = grow(10_000);
	for (const at of [0, 1, 999, 5_000, 10_000]) {
		const { messages } = states[at] as AgentState;
		expect(messages).toHaveLength(at);
		expect(messages.at(-1)?.id).toBe(at === 0 ? undefined : String(at - 1));
	}
});

test("the forks of a state take time in proportion to their number, regardless of its messages", async () => {
	const large = grow(10_000).at(-1) as AgentState;
	const message = new UserMessage("fork");
	// As many forks as messages: copying would be quadratic.
	await expectProportion(10_000, (size) => {
		const state = grow(size).at(-1) as AgentState;
		return () => {
			for (let fork = 0; fork < size; fork++) state.withMessage(message).withStep(1).withReasoning("r");
		};
	});
	expect(large.withMessage(message).messages).toHaveLength(10_001);
	expect(large.messages).toHaveLength(10_000);
});
