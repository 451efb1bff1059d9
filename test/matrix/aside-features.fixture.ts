// Features of the matrix in which somebody else uses the session while its calls wait.
import { act, approve, call, type Feature } from "./features.fixture.ts";

const asked = { shown: [{ n: 1 }], ran: [{ n: 1 }] };

export const asideFeatures: readonly Feature[] = [
	{
		name: "a message that is sent while an approval waits, which is a turn of its own",
		turns: 1,
		script: [call("c", { n: 1 }), "done", "answered"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		aside: "send",
		expected: asked,
		requests: 3,
	},
	{
		name: "an interrupt while an approval waits, whose answer is then refused",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		aside: "interrupt",
		expected: { shown: [{ n: 1 }], ran: [] },
		refusals: {
			"a session in memory": "no_pending_tool_calls",
			"a session on SQLite": "no_pending_tool_calls",
			"a session on Postgres": "no_pending_tool_calls",
		},
	},
	{
		name: "an overlay while an approval waits, which the next request has",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		aside: "overlay",
		expected: asked,
		requests: 2,
	},
	{
		name: "an edit of the history while an approval waits",
		turns: 1,
		script: [call("c", { n: 1 }), "done"],
		agent: (ran, model) => ({ model, tools: [act(ran)] }),
		say: approve,
		aside: "edit",
		expected: asked,
		requests: 2,
	},
];
