// The features of the matrix: an agent, what is answered when it asks, and what must have come of it in every place. To add a
// feature, add an entry; each place runs it, or refuses it with the code that `refusals` names.
import { type ScriptedModel, type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { type AgentOptions, tool } from "holdfast";
import { definePlugin } from "holdfast/plugins";
import { z } from "zod";
import type { PlaceName } from "./places.fixture.ts";

/** A call that waits, as a place shows it. */
export interface Asked {
	readonly id: string;
	readonly input: unknown;
	readonly awaits: "approval" | "result";
}

/** What is said of a call that waits. */
export type Said =
	| { readonly approved: boolean; readonly input?: Record<string, unknown> }
	| { readonly output: string; readonly isError?: true };

/** What came of a feature in a place. */
export interface Came {
	/** Inputs that were shown, in order. */
	readonly shown: readonly unknown[];
	/** Inputs that the function was called with, in order. */
	readonly ran: readonly unknown[];
}

/** What somebody else does with a session while its calls wait. */
export type Aside =
	| "send"
	| "steer"
	| "interrupt"
	| "overlay"
	| "edit"
	| "fork"
	| "kill"
	| "approve"
	| "deny";

export interface Feature {
	readonly name: string;
	/** What is said, turn by turn. */
	readonly turns: number;
	/** An agent, anew for each deployment; functions write what they were called with into `ran`. */
	agent(ran: unknown[], model: ScriptedModel): AgentOptions;
	readonly script: readonly (string | ScriptedReply)[];
	say?(asked: Asked): Said;
	readonly expected: Came;
	/** What is expected where nobody can be asked: a plain call. Default: as everywhere. */
	readonly unasked?: Came;
	/** What somebody else does whenever calls wait; only places that have such a request are cells. */
	readonly aside?: Aside;
	/** What somebody else does once, while the run waits for its provider; only places that have such a request are cells. */
	readonly asideOfProvider?: Aside;
	/** What somebody else does once with a call that waits while another one runs; what lets that one end, then. */
	readonly asideOfSibling?: readonly [Aside, letEnd: (ran: unknown[]) => void];
	/**
	 * How many tasks in the background wait: the second answer of the model comes once they do, so that every place has them to
	 * show as the turn ends.
	 */
	readonly background?: number;
	/** How often the model is asked in total. Default: it is not compared. */
	readonly requests?: number;
	/** Whether the run fails, which places report in their own ways. */
	readonly fails?: true;
	/** Codes of the places that refuse it. */
	readonly refusals?: Partial<Record<PlaceName, string>>;
}

/** These wires have no field for another input. */
export const noInput = {
	useChat: "no_input",
	"useChat with the transport of the AI SDK": "no_input",
	"MCP of 2025": "no_input",
	"MCP of 2026": "no_input",
} as const;

export const call = (id: string, args: Record<string, unknown>): ScriptedReply => ({
	toolCalls: [{ name: "act", id, arguments: args }],
});
export const parameters = z.object({ n: z.number(), to: z.string().optional() });
export const approve = (): Said => ({ approved: true });
export const nothing: Came = { shown: [], ran: [] };

/** A tool that writes down what it is called with. */
export function act(ran: unknown[], options: Partial<Parameters<typeof tool>[0]> = {}) {
	const declared = { name: "act", description: "Acts.", parameters, needsApproval: true, ...options };
	return tool({ run: (input: unknown) => void ran.push(input), ...declared } as never);
}

export const doubling = definePlugin({
	name: "doubling",
	setup: (on) =>
		void on.on("tool.call", ({ input }) => ({ action: "modify", input: { ...input, n: input.n * 2 } })),
});

export const features: readonly Feature[] = [
	{
		name: "an approved call",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		expected: { shown: [{ n: 1 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
	{
		name: "a denied call",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: () => ({ approved: false }),
		expected: { shown: [{ n: 1 }], ran: [] },
		unasked: nothing,
	},
	{
		name: "an answer of needsApproval that is no boolean",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran, { needsApproval: () => 1 as never })] }),
		say: () => ({ approved: false }),
		expected: { shown: [{ n: 1 }], ran: [] },
		unasked: nothing,
	},
	{
		name: "an input that a plugin modifies",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)], plugins: [doubling] }),
		say: approve,
		expected: { shown: [{ n: 2 }], ran: [{ n: 2 }] },
		unasked: nothing,
	},
	{
		name: "an input that a schema completes",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({
			model,
			tools: [act(ran, { parameters: z.object({ n: z.number(), to: z.string().default("bob") }) as never })],
		}),
		say: approve,
		expected: { shown: [{ n: 1, to: "bob" }], ran: [{ n: 1, to: "bob" }] },
		unasked: nothing,
	},
	{
		name: "an id that is repeated in the next round",
		turns: 1,
		script: [call("c", { n: 1 }), call("c", { n: 2 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: ({ input }) => ({ approved: (input as { n: number }).n === 1 }),
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
	{
		name: "an id that is repeated in the next turn",
		turns: 2,
		script: [call("c", { n: 1 }), "done", call("c", { n: 2 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: ({ input }) => ({ approved: (input as { n: number }).n === 2 }),
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [{ n: 2 }] },
		unasked: nothing,
	},
	{
		name: "two calls at once, one of them approved",
		turns: 1,
		script: [{ toolCalls: [1, 2].map((n) => ({ name: "act", id: `c${n}`, arguments: { n } })) }, "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: ({ input }) => ({ approved: (input as { n: number }).n === 1 }),
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
	{
		name: "a call that the token limit cut off",
		turns: 1,
		script: [{ ...call("c", {}), stopReason: "length" }, "done"],
		agent: (ran, model) => ({
			model,
			tools: [act(ran, { parameters: z.object({}) as never, needsApproval: false })],
		}),
		expected: nothing,
	},
	{
		name: "a function that never returns",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => {
			const run = (input: unknown): Promise<never> => {
				ran.push(input);
				return new Promise(() => {});
			};
			return { model, tools: [act(ran, { needsApproval: false, timeoutMs: 5, run: run as never })] };
		},
		expected: { shown: [], ran: [{ n: 1 }] },
	},
	{
		name: "a modified input of a remote tool",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (_, model) => ({
			model,
			tools: [{ name: "act", description: "Acts.", parameters: z.toJSONSchema(parameters) }],
			plugins: [doubling],
		}),
		say: () => ({ output: "done" }),
		expected: { shown: [{ n: 2 }], ran: [] },
		unasked: nothing,
	},
	{
		name: "an approval that changes the input",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran, { editableApproval: true })] }),
		say: () => ({ approved: true, input: { n: 9 } }),
		expected: { shown: [{ n: 1 }], ran: [{ n: 9 }] },
		unasked: nothing,
		refusals: noInput,
	},
];

/** Follows the script; the second answer comes after `waiting`. */
export function modelOf({ script, background }: Feature, waiting: Promise<unknown>): ScriptedModel {
	if (background === undefined) return scriptedModel([...script]);
	const answers = [...script];
	return scriptedModel(async () => {
		if (answers.length === script.length - 1) await waiting;
		return answers.shift() ?? "nothing is left to say";
	});
}
