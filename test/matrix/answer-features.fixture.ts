// Features of the matrix about which calls ask, what they show, and what is answered.
import type { ScriptedReply } from "@holdfast/testing";
import { definePlugin } from "holdfast/plugins";
import { z } from "zod";
import { act, approve, call, type Feature, noInput, nothing, parameters } from "./features.fixture.ts";

const calls = (...numbers: readonly number[]): ScriptedReply => ({
	toolCalls: numbers.map((n) => ({ name: "act", id: `c${n}`, arguments: { n } })),
});

const blocking = definePlugin({
	name: "blocking",
	setup: (on) => void on.on("tool.call", () => ({ action: "reject-and-continue", message: "No." })),
});

const remote = { name: "fetch", description: "Fetches.", parameters: z.toJSONSchema(parameters) };
const isOne = (input: unknown): boolean => (input as { n: number }).n === 1;

const notAllowed = {
	"a session in memory": "invalid_input",
	"a session on SQLite": "invalid_input",
	"a session on Postgres": "invalid_input",
	"an execute session": "invalid_input",
	"an execute session on SQLite": "invalid_input",
	HTTP: "invalid_input",
	"HTTP on SQLite": "invalid_input",
	"a look at a session over HTTP": "invalid_input",
	"the client": "invalid_input",
	"the inspector": "invalid_input",
	A2A: "a2a -32602",
	"AG-UI": "invalid_input",
	...noInput,
};

export const answerFeatures: readonly Feature[] = [
	{
		name: "a call that needs no approval",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran, { needsApproval: false })] }),
		expected: { shown: [], ran: [{ n: 1 }] },
	},
	{
		name: "an approval that depends on the input",
		turns: 1,
		script: [call("c", { n: 1 }), call("d", { n: 2 }), "done"],
		agent: (ran, model) => ({
			model,
			tools: [act(ran, { needsApproval: ((input: unknown) => !isOne(input)) as never })],
		}),
		say: approve,
		expected: { shown: [{ n: 2 }], ran: [{ n: 1 }, { n: 2 }] },
		unasked: { shown: [], ran: [{ n: 1 }] },
	},
	{
		name: "an approval that is decided later",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran, { needsApproval: async () => true })] }),
		say: approve,
		expected: { shown: [{ n: 1 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
	{
		name: "a needsApproval that throws",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => {
			const needsApproval = (): boolean => {
				throw new Error("broken");
			};
			return { model, tools: [act(ran, { needsApproval })] };
		},
		say: approve,
		expected: nothing,
		fails: true,
	},
	{
		name: "arguments that the schema refuses",
		turns: 1,
		script: [call("c", { n: "one" }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		expected: nothing,
	},
	{
		name: "a tool that is unknown",
		turns: 1,
		script: [{ toolCalls: [{ name: "other", id: "c", arguments: { n: 1 } }] }, "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		expected: nothing,
	},
	{
		name: "a call that a plugin denies",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)], plugins: [blocking] }),
		say: approve,
		expected: nothing,
	},
	{
		name: "three calls at once, all approved",
		turns: 1,
		script: [calls(1, 2, 3), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran, { sequential: true })] }),
		say: approve,
		expected: { shown: [{ n: 1 }, { n: 2 }, { n: 3 }], ran: [{ n: 1 }, { n: 2 }, { n: 3 }] },
		unasked: nothing,
	},
	{
		name: "three calls at once, all denied",
		turns: 1,
		script: [calls(1, 2, 3), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: () => ({ approved: false }),
		expected: { shown: [{ n: 1 }, { n: 2 }, { n: 3 }], ran: [] },
		unasked: nothing,
	},
	{
		name: "one id twice in one answer of the model",
		turns: 1,
		script: [{ toolCalls: [1, 2].map((n) => ({ name: "act", id: "c", arguments: { n } })) }, "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: ({ input }) => ({ approved: isOne(input) }),
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
	{
		name: "an approval in each of three rounds",
		turns: 1,
		script: [calls(1), calls(2), calls(3), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		expected: { shown: [{ n: 1 }, { n: 2 }, { n: 3 }], ran: [{ n: 1 }, { n: 2 }, { n: 3 }] },
		unasked: nothing,
	},
	{
		name: "an approval in each of three turns",
		turns: 3,
		script: [calls(1), "done", calls(2), "done", calls(3), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		expected: { shown: [{ n: 1 }, { n: 2 }, { n: 3 }], ran: [{ n: 1 }, { n: 2 }, { n: 3 }] },
		unasked: nothing,
	},
	{
		name: "a denied call that is made again and approved",
		turns: 2,
		script: [call("c", { n: 1 }), "done", call("c", { n: 1, to: "bob" }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: ({ input }) => ({ approved: "to" in (input as object) }),
		expected: { shown: [{ n: 1 }, { n: 1, to: "bob" }], ran: [{ n: 1, to: "bob" }] },
		unasked: nothing,
	},
	{
		name: "an approved function that never returns",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => {
			const run = (input: unknown): Promise<never> => {
				ran.push(input);
				return new Promise(() => {});
			};
			return { model, tools: [act(ran, { timeoutMs: 5, run: run as never })] };
		},
		say: approve,
		expected: { shown: [{ n: 1 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
	{
		name: "an approved function that throws",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => {
			const run = (input: unknown): never => {
				ran.push(input);
				throw new Error("broken");
			};
			return { model, tools: [act(ran, { run: run as never })] };
		},
		say: approve,
		expected: { shown: [{ n: 1 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
	{
		name: "an approval and a remote tool at once",
		turns: 1,
		script: [
			{
				toolCalls: [
					{ name: "act", id: "c", arguments: { n: 1 } },
					{ name: "fetch", id: "d", arguments: { n: 2 } },
				],
			},
			"done",
		],
		agent: (ran, model) => ({ model, tools: [act(ran), remote] }),
		say: ({ awaits }) => (awaits === "approval" ? { approved: true } : { output: "fetched" }),
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
	{
		name: "a local call while another one waits",
		turns: 1,
		script: [
			{
				toolCalls: [
					{ name: "act", id: "c", arguments: { n: 1 } },
					{ name: "look", id: "d", arguments: { n: 2 } },
				],
			},
			"done",
		],
		agent: (ran, model) => ({
			model,
			tools: [act(ran), act(ran, { name: "look", needsApproval: false })],
		}),
		say: approve,
		expected: { shown: [{ n: 1 }], ran: [{ n: 2 }, { n: 1 }] },
		unasked: { shown: [], ran: [{ n: 2 }] },
	},
	{
		name: "a remote tool in each of two turns, with one id",
		turns: 2,
		script: [call("c", { n: 1 }), "done", call("c", { n: 2 }), "done"],
		agent: (_, model) => ({ model, tools: [{ ...remote, name: "act" }] }),
		say: () => ({ output: "done" }),
		expected: { shown: [{ n: 1 }, { n: 2 }], ran: [] },
		unasked: { shown: [], ran: [] },
	},
	{
		name: "the second of two calls that the token limit cut off",
		turns: 1,
		script: [
			{
				toolCalls: [
					{ name: "act", id: "c", arguments: { n: 1 } },
					{ name: "act", id: "d", arguments: {} },
				],
				stopReason: "length",
			},
			"done",
		],
		agent: (ran, model) => ({ model, tools: [act(ran, { parameters: z.object({}).loose() as never })] }),
		say: approve,
		expected: { shown: [{ n: 1 }], ran: [{ n: 1 }] },
		unasked: nothing,
	},
	{
		name: "a changed input of a tool that allows none",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: () => ({ approved: true, input: { n: 9 } }),
		expected: nothing,
		unasked: nothing,
		refusals: notAllowed,
	},
	{
		name: "a changed input that the schema refuses",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran, { editableApproval: true })] }),
		say: () => ({ approved: true, input: { n: "nine" } }),
		expected: { shown: [{ n: 1 }], ran: [] },
		unasked: nothing,
		refusals: noInput,
	},
];
