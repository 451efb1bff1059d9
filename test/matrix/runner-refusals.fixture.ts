// What the runner does not have, or not in this form: each is refused as it is configured.
import { planActReflect, RunnerAgent } from "@holdfast/runner";
import { acting, planning, use } from "./runner-parts.fixture.ts";

interface RunnerRefusal {
	readonly name: string;
	readonly code: string;
	make(): unknown;
}

const base = { id: "clerk", taskPrompt: "Help.", modelProviders: [], planner: planning([use(1)]) };
const made = (config: object) => () => new RunnerAgent({ ...base, tools: [acting([])], ...config } as never);
const withTool = (more: object) => made({ tools: [acting([], more as never)] });

export const runnerRefusals: readonly RunnerRefusal[] = [
	{ name: "a tool with needsApproval", code: "TOOL_INVALID", make: withTool({ needsApproval: true }) },
	{ name: "a tool with approval", code: "TOOL_INVALID", make: withTool({ approval: () => true }) },
	{ name: "a tool with a retry policy", code: "TOOL_INVALID", make: withTool({ retryPolicy: "idempotent" }) },
	{ name: "a tool without a function", code: "TOOL_INVALID", make: withTool({ run: undefined }) },
	{
		name: "a misspelt list of allowed tools",
		code: "CONFIG_INVALID",
		make: made({ safety: { toolAlowlist: [] } }),
	},
	{
		name: "a list of allowed tools that is a text",
		code: "CONFIG_INVALID",
		make: made({ safety: { toolAllowlist: "act" } }),
	},
	{
		name: "a budget that is no number",
		code: "CONFIG_INVALID",
		make: made({ safety: { safetyBudget: "3" } }),
	},
	{ name: "no steps at all", code: "CONFIG_INVALID", make: made({ maxSteps: 0 }) },
	{ name: "waits for a provider", code: "CONFIG_INVALID", make: made({ modelWait: {} }) },
	{ name: "sub-agents", code: "CONFIG_INVALID", make: made({ subagents: [] }) },
	{
		name: "a misspelt list of allowed tools of the strategy",
		code: "CONFIG_INVALID",
		make: () => planActReflect({ planner: base.planner, safety: { toolAlowlist: [] } as never }),
	},
];
