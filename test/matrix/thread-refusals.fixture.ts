// What threads do not have: each is refused as it is defined.
import { defineAgent, definePrompt, defineTool, threads } from "@holdfast/threads";
import { memoryHost } from "holdfast";
import { workflow } from "holdfast/workflow";
import { valueProject } from "../simulation/threads-project.fixture.ts";

interface ThreadRefusal {
	readonly name: string;
	readonly code: string;
	make(): unknown;
}

const execute = () => ({ status: "success" as const });
const tool = (options: object) => () => defineTool({ description: "Acts.", execute, ...options } as never);
const side = { prompt: "main_prompt" };

/** A project whose prompt lists tools of MCP servers. */
const listing = (name: string) =>
	valueProject({
		agent: { main: defineAgent({ name: "main", sideA: side }) },
		prompt: {
			main_prompt: definePrompt({
				name: "main_prompt",
				toolDescription: "x",
				prompt: "x",
				model: "model",
				tools: [name] as never,
			}),
		},
		model: {},
		tool: {},
		hook: {},
		effect: {},
		provider: {},
	});

const started = (options: object) => () =>
	threads({ project: listing("mcp:files.read"), host: memoryHost(), ...options } as never);
const asking = {
	tools: () => [
		{
			name: "files_read",
			toolName: "read",
			server: "files",
			description: "Reads.",
			parameters: { type: "object" },
			needsApproval: true,
			run: () => "",
		},
	],
	servers: () => [{ name: "files", status: "connected" }],
};

const code = workflow({ name: "code" }, (flow) => flow.approve("act"));

export const threadRefusals: readonly ThreadRefusal[] = [
	{ name: "a workflow as an agent", code: "invalid_definition", make: () => defineAgent(code as never) },
	{ name: "a workflow as a tool", code: "invalid_definition", make: () => defineTool(code.agent as never) },
	{ name: "a tool with needsApproval", code: "invalid_definition", make: tool({ needsApproval: true }) },
	{
		name: "a tool with a needsApproval that decides",
		code: "invalid_definition",
		make: tool({ needsApproval: () => true }),
	},
	{ name: "a tool with approval", code: "invalid_definition", make: tool({ approval: () => true }) },
	{
		name: "a tool whose approval is editable",
		code: "invalid_definition",
		make: tool({ editableApproval: true }),
	},
	{ name: "a remote tool", code: "invalid_definition", make: tool({ execute: undefined }) },
	{ name: "a tool with a deadline", code: "invalid_definition", make: tool({ timeoutMs: 5 }) },
	{
		name: "a tool with a retry policy",
		code: "invalid_definition",
		make: tool({ retryPolicy: "idempotent" }),
	},
	{
		name: "an agent with needsApproval",
		code: "invalid_definition",
		make: () => defineAgent({ name: "main", sideA: side, needsApproval: true } as never),
	},
	{
		name: "an agent with subagents",
		code: "invalid_definition",
		make: () => defineAgent({ name: "main", sideA: side, subagents: [] } as never),
	},
	{
		name: "a prompt with approvals",
		code: "invalid_definition",
		make: () =>
			definePrompt({
				name: "p",
				toolDescription: "x",
				prompt: "x",
				model: "m",
				needsApproval: true,
			} as never),
	},
	{
		name: "a tool of an MCP server that requires approval",
		code: "mcp_tools_missing",
		make: started({ mcp: asking }),
	},
	{
		name: "threads with a policy of approvals",
		code: "invalid_option",
		make: started({ approval: () => true }),
	},
];
