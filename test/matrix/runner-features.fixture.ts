// The features of the matrix in the runner: what is planned, what policy says, what is answered, and what must have come of it.
import { act, approve, doubling } from "./features.fixture.ts";
import {
	actor,
	approvedWorkflow,
	ask,
	asked,
	asks,
	belowWorkflow,
	block,
	busyClient,
	delegation,
	denied,
	deny,
	finish,
	hanging,
	nOf,
	nothing,
	ofRunner,
	ofStrategy,
	ofSubagent,
	one,
	planned,
	planning,
	policy,
	type RunnerFeature,
	two,
	unasked,
	use,
} from "./runner-parts.fixture.ts";

export const runnerFeatures: readonly RunnerFeature[] = [
	ofRunner({ name: "a call that policy asks about, approved", say: approve, expected: asked }, () => ({
		safety: asks,
	})),
	ofRunner({ name: "a call that policy asks about, denied", say: deny, expected: denied }, () => ({
		safety: asks,
	})),
	ofRunner({ name: "a plan that policy asks about, approved", say: approve, expected: asked }, () => ({
		safety: policy("planner-output", () => ask),
	})),
	ofRunner({ name: "a plan that policy asks about, denied", say: deny, expected: denied }, () => ({
		safety: policy("planner-output", () => ask),
	})),
	ofRunner(
		{
			name: "calls in two rounds that policy asks about, one of them approved",
			say: ({ input }) => ({ approved: nOf(input) === 2 }),
			expected: { shown: [one, two], ran: [two], ended: ["completed"] },
		},
		() => ({ safety: asks, planner: planning([use(1), use(2)]) }),
	),
	ofRunner(
		{
			name: "calls in two turns that policy asks about",
			turns: 2,
			say: approve,
			expected: { shown: [one, two], ran: [one, two], ended: ["completed", "completed"] },
		},
		() => ({ safety: asks, planner: planning([use(1)], [use(2)]) }),
	),
	ofRunner(
		{
			name: "a call that policy asks about, in an input that a sanitizer changed",
			say: approve,
			expected: { ...asked, shown: [two], ran: [two] },
		},
		() => ({
			safety: { ...asks, sanitizers: [(_, input) => ({ n: (nOf(input) as number) * 2 })] },
		}),
	),
	ofRunner(
		{
			name: "an approval that changes the input",
			say: () => ({ approved: true, input: two }),
			expected: "invalid_input",
		},
		() => ({
			safety: asks,
		}),
	),
	ofRunner(
		{ name: "a call that policy asks about, of a tool that is not allowed", expected: nothing },
		() => ({
			safety: { ...asks, toolAllowlist: ["other"] },
		}),
	),
	ofRunner({ name: "a tool that is allowed", expected: unasked }, () => ({
		safety: { toolAllowlist: ["act"] },
	})),
	ofRunner({ name: "an empty list of allowed tools", expected: nothing }, () => ({
		safety: { toolAllowlist: [] },
	})),
	ofRunner({ name: "a tool that is denied", expected: nothing }, () => ({
		safety: { toolAllowlist: ["act"], toolDenylist: ["act"] },
	})),
	ofRunner({ name: "a policy engine that throws", expected: nothing }, () => ({
		safety: policy("tool-input", () => {
			throw new Error("broken");
		}),
	})),
	ofRunner({ name: "an input that holds what is filtered", expected: nothing }, () => ({
		safety: { contentFilter: ["swordfish"] },
		planner: planning([use("swordfish")]),
	})),
	ofRunner({ name: "an input that policy modifies", expected: { ...unasked, ran: [two] } }, () => ({
		safety: policy("tool-input", () => ({ action: "modify", rule: "r", subject: two })),
	})),
	ofRunner(
		{ name: "blocks beyond the safety budget", expected: { ...nothing, ended: ["SAFETY_VIOLATION"] } },
		() => ({
			planner: planning([use(1), use(2)]),
			safety: { ...policy("tool-input", () => block), safetyBudget: 1 },
		}),
	),
	ofRunner(
		{ name: "steps beyond the budget of steps", expected: { ...unasked, ended: ["STEPS_EXHAUSTED"] } },
		() => ({
			maxSteps: 1,
		}),
	),
	ofRunner(
		{
			name: "an approval at the last step of the budget",
			say: approve,
			expected: { ...asked, ended: ["STEPS_EXHAUSTED"] },
		},
		() => ({
			maxSteps: 1,
			safety: asks,
		}),
	),
	ofRunner({ name: "a call beyond the rate of its tool", expected: unasked }, () => ({
		planner: planning([use(1), use(2)]),
		safety: { requestRateLimit: { act: { max: 1, windowMs: 3_600_000 } } },
	})),
	ofRunner({ name: "a tool that is not safe by default", expected: nothing }, () => ({
		tool: { safeByDefault: false },
	})),
	ofRunner({ name: "a tool that is unknown", expected: nothing }, () => ({
		planner: planning([{ type: "tool", toolId: "other" }]),
	})),
	ofRunner({ name: "arguments that the schema refuses", expected: nothing }, () => ({
		planner: planning([use("one")]),
		tool: { schema: { type: "object", properties: { n: { type: "number" } } } },
	})),
	ofRunner({ name: "a function that never returns", expected: unasked }, (ran) => ({
		tool: { timeoutMs: 5, run: hanging(ran) },
	})),
	ofRunner(
		{ name: "an approved function that throws", say: approve, expected: { ...asked, ended: ["TOOL_FATAL"] } },
		(ran) => ({
			safety: asks,
			tool: {
				run(input) {
					ran.push(input);
					throw new Error("broken");
				},
			},
		}),
	),
	ofRunner({ name: "a provider that is busy, with another one", expected: unasked }, () => ({
		planner: undefined as never,
		modelProviders: [busyClient([]), busyClient([planned(use(1)), planned(finish)])],
	})),
	ofRunner(
		{
			name: "a provider that is busy, without another one",
			expected: { ...nothing, ended: ["MODEL_FAILED"] },
		},
		() => ({
			planner: undefined as never,
			modelProviders: [busyClient([])],
		}),
	),
	ofStrategy({ name: "a call of a tool that asks, approved", say: approve, expected: asked }, {}, (ran) => ({
		tools: [act(ran)],
	})),
	ofStrategy({ name: "a call of a tool that asks, denied", say: deny, expected: denied }, {}, (ran) => ({
		tools: [act(ran)],
	})),
	ofStrategy(
		{
			name: "an approval that changes the input",
			say: () => ({ approved: true, input: two }),
			expected: { ...asked, ran: [two] },
		},
		{},
		(ran) => ({ tools: [act(ran, { editableApproval: true })] }),
	),
	ofStrategy(
		{
			name: "a changed input of a tool that allows none",
			say: () => ({ approved: true, input: two }),
			expected: "invalid_input",
		},
		{},
		(ran) => ({ tools: [act(ran)] }),
	),
	ofStrategy(
		{
			name: "an input that a plugin modifies",
			say: approve,
			expected: { ...asked, shown: [two], ran: [two] },
		},
		{},
		(ran) => ({ tools: [act(ran)], plugins: [doubling] }),
	),
	ofStrategy(
		{
			name: "a workflow as a sub-agent that asks for an approval",
			say: approve,
			expected: { shown: [{ name: "act", details: one }], ran: [one], ended: ["completed"] },
		},
		{ planner: planning([delegation]) },
		(ran) => ({ subagents: [approvedWorkflow(ran)] }),
	),
	belowWorkflow(
		{ name: "a call that policy asks about, below a workflow", say: approve, expected: asked },
		{ safety: asks },
	),
	ofStrategy(
		{
			name: "approvals in each of two turns",
			turns: 2,
			say: approve,
			expected: { shown: [one, two], ran: [one, two], ended: ["completed", "completed"] },
		},
		{ planner: planning([use(1)], [use(2)]) },
		(ran) => ({ tools: [act(ran)] }),
	),
	ofStrategy({ name: "a call that policy asks about", expected: nothing }, { safety: asks }),
	ofStrategy(
		{ name: "a plan that policy asks about", expected: nothing },
		{ safety: policy("planner-output", () => ask) },
	),
	ofStrategy(
		{ name: "a call of a tool that asks, which policy asks about too", expected: nothing },
		{ safety: asks },
		(ran) => ({
			tools: [act(ran)],
		}),
	),
	ofStrategy(
		{ name: "a tool that is not allowed", expected: nothing },
		{ safety: { toolAllowlist: ["other"] } },
	),
	ofStrategy(
		{ name: "an empty list of allowed tools", expected: nothing },
		{ safety: { toolAllowlist: [] } },
	),
	ofStrategy(
		{ name: "blocks beyond the safety budget", expected: { ...nothing, ended: ["SAFETY_VIOLATION"] } },
		{ safety: { toolDenylist: ["act"], safetyBudget: 0 } },
	),
	ofStrategy(
		{ name: "steps beyond the budget of steps", expected: { ...unasked, ended: ["STEPS_EXHAUSTED"] } },
		{ maxSteps: 1 },
	),
	ofStrategy(
		{ name: "an approved call of a sub-agent", say: approve, expected: asked },
		{ planner: planning([delegation]) },
		(ran) => ({ subagents: [actor(ran)] }),
	),
	ofStrategy(
		{ name: "a denied call of a sub-agent", say: deny, expected: denied },
		{ planner: planning([delegation]) },
		(ran) => ({ subagents: [actor(ran)] }),
	),
	ofStrategy(
		{ name: "a sub-agent that is not allowed", expected: nothing },
		{ planner: planning([delegation]), safety: { toolAllowlist: ["act"] } },
		(ran) => ({ subagents: [actor(ran)] }),
	),
	ofSubagent(
		{ name: "a call that policy asks about, approved", say: approve, expected: asked },
		{ safety: asks },
	),
	ofSubagent(
		{ name: "a call that policy asks about, denied", say: deny, expected: denied },
		{ safety: asks },
	),
	ofSubagent({ name: "a tool that is not allowed", expected: nothing }, { safety: { toolAllowlist: [] } }),
	ofSubagent({ name: "a call that needs no approval", expected: unasked }, {}),
];
