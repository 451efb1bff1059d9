// Shared by the tests of custom strategies.
import type { CheckpointStore } from "../checkpoint/checkpoint-store.ts";
import type { AgentState } from "../state/agent-state.ts";
import type { ExecutionStrategy } from "../strategies/execution-strategy.ts";
import { loop } from "../strategies/loop.ts";

/** The document's own example: one model call, framed as a step. */
export function once(extra: Partial<ExecutionStrategy> = {}): ExecutionStrategy {
	return {
		name: "once",
		async execute({ llm, input, state, strategy }) {
			strategy.onStepStart?.(1, state.withStep(1));
			const turn = await llm.generate([...state.messages], input);
			const after = state.withMessages([...turn.messages]).withStep(1);
			strategy.onStepEnd?.(1, { turn, state: after });
			return { turn, state: after };
		},
		stream: (context) => loop().stream(context),
		...extra,
	};
}

/** A store that keeps what was saved, in order. */
export function memoryStore(): CheckpointStore & { saved: ReturnType<AgentState["toJSON"]>[] } {
	const saved: ReturnType<AgentState["toJSON"]>[] = [];
	return {
		saved,
		save: async (_, state) => void saved.push(state),
		load: async () => saved.at(-1) ?? null,
		delete: async () => {},
		list: async () => [],
	};
}
