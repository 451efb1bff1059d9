// What the threads do that are killed at each of their writes.
import type { Plan } from "../simulation/threads-project.fixture.ts";

/** By name: what the first agent does, and whoever works for it. */
export const plans = {
	/** A value, a file, an effect that is due at once and one that is due later; then another agent takes over. */
	tools: {
		main: [
			[
				{ name: "note", subject: "a" },
				{ name: "save", subject: "bb" },
				{ name: "later", subject: "c" },
				{ name: "later", subject: "dd" },
			],
			[{ name: "closer", subject: "the end" }],
			[{ name: "note", subject: "e" }],
		],
		worker: [],
	},
	/** Sub-agents: one that is waited for, one that reports, and one that gets further messages. */
	agents: {
		main: [
			[
				{ name: "digger", subject: "a" },
				{ name: "scout", subject: "b" },
			],
			[{ name: "subagent_create", subject: "c" }],
			[{ name: "subagent_message", subject: "d" }],
		],
		worker: [["save"]],
	},
} as const satisfies Record<string, Plan>;
