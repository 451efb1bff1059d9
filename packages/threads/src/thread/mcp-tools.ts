// Tools of MCP servers in a project: resolves the `mcp:` names of prompts, and runs their calls. The program connects the
// servers with `connectMcp` of @holdfast/mcp; threads depend only on these interfaces.
import { messageOf } from "@holdfast/upp";
import { HoldfastError, type ToolContext } from "holdfast";
import type { Project, PromptToolConfig, ToolResult } from "../types/index.ts";
import type { Callable, GivenMcpTool } from "./callable.ts";

/** Connected MCP servers, such as the result of `connectMcp` of `@holdfast/mcp`. */
export interface GivenMcp {
	/** The current tools of all servers. */
	tools(): readonly GivenMcpTool[];
	/** Returns the state of each server's connection. */
	servers(): readonly { readonly name: string; readonly status: string }[];
}

type McpCallable = Extract<Callable, { kind: "mcp" }>;

/** Parses a name: `mcp:SERVER` refers to all tools of a server, `mcp:SERVER.TOOL` to one of them. */
function read(name: string): { readonly server: string; readonly tool: string | undefined } {
	const rest = name.slice("mcp:".length);
	const at = rest.indexOf(".");
	return at < 0 ? { server: rest, tool: undefined } : { server: rest.slice(0, at), tool: rest.slice(at + 1) };
}

function named(mcp: GivenMcp, name: string): readonly GivenMcpTool[] {
	const { server, tool } = read(name);
	return mcp.tools().filter((each) => each.server === server && (tool ?? each.toolName) === each.toolName);
}

/** Returns the callables that a name refers to; none if the server does not exist. */
export function mcpCallables(mcp: GivenMcp | undefined, config: PromptToolConfig): McpCallable[] {
	if (mcp === undefined) return [];
	return named(mcp, config.name)
		.filter(({ needsApproval }) => !asks(needsApproval))
		.map((tool) => ({
			kind: "mcp",
			name: `${tool.server}_${tool.toolName}`.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64),
			description: typeof tool.description === "string" ? tool.description : "",
			parameters: (tool.parameters ?? { type: "object", properties: {} }) as Record<string, unknown>,
			tool,
			config,
		}));
}

const asks = (needsApproval: unknown): boolean => needsApproval !== undefined && needsApproval !== false;

/** Returns problems with the MCP names of a project; a server that is only disconnected is not a problem. */
export function mcpProblems(
	mcp: GivenMcp | undefined,
	{ prompts }: Pick<Project, "prompts">,
): readonly { readonly file: string; readonly field: string; readonly message: string }[] {
	const problems: { file: string; field: string; message: string }[] = [];
	for (const prompt of prompts.values())
		for (const entry of prompt.definition.tools ?? []) {
			const name = typeof entry === "string" ? entry : entry.name;
			const problem = name.startsWith("mcp:") ? problemOf(mcp, name) : undefined;
			if (problem !== undefined)
				problems.push({
					file: prompt.file,
					field: "tools",
					message: `The prompt "${prompt.name}" names the tool "${name}": ${problem}`,
				});
		}
	return problems;
}

function problemOf(mcp: GivenMcp | undefined, name: string): string | undefined {
	if (mcp === undefined)
		return "no MCP servers are given. Connect them with `connectMcp` of `@holdfast/mcp`, and pass them in the option `mcp`.";
	const { server, tool } = read(name);
	const known = mcp.servers();
	const found = known.find((each) => each.name === server);
	if (found === undefined)
		return `there is no MCP server "${server}". Known: ${known.map((each) => each.name).join(", ") || "none"}.`;
	const own = mcp.tools().filter((each) => each.server === server);
	const asking = named(mcp, name).filter(({ needsApproval }) => asks(needsApproval));
	if (asking.length > 0)
		return `${asking.map(({ toolName }) => `"${toolName}"`).join(", ")} of the MCP server needs approval, which threads cannot request. Remove \`needsApproval\`, or name other tools.`;
	if (tool === undefined || own.length === 0 || named(mcp, name).length > 0) return undefined;
	return `the MCP server "${server}" has no such tool. It has: ${own.map(({ toolName }) => toolName).join(", ")}.`;
}

/** @throws HoldfastError `mcp_tools_missing`. */
export function requireMcp(mcp: GivenMcp | undefined, project: Pick<Project, "prompts">): void {
	const problems = mcpProblems(mcp, project).map(({ message }) => message);
	if (problems.length > 0)
		throw new HoldfastError("mcp_tools_missing", problems.join("\n"), { data: { problems } });
}

/** Runs a call. A failure becomes the result of the call. */
export async function callMcp(
	{ tool }: McpCallable,
	args: Record<string, unknown>,
	context: ToolContext,
): Promise<ToolResult> {
	try {
		return resultOf(await tool.run(args, context));
	} catch (error) {
		context.signal.throwIfAborted();
		return { status: "error", error: messageOf(error) };
	}
}

interface Block {
	readonly type: string;
	readonly text?: string;
	readonly mimeType?: string;
	readonly title?: string;
	readonly source?: { readonly data?: unknown };
}

/** Converts a result: text is the result, pictures and documents become files of the thread, other data becomes JSON. */
function resultOf(given: unknown): ToolResult {
	if (typeof given === "string") return { status: "success", result: given };
	if (!isContent(given)) return { status: "success", result: JSON.stringify(given) ?? "" };
	const text = given.flatMap(({ text: said }) => (said === undefined ? [] : [said]));
	const attachments = given.flatMap(({ source, mimeType = "application/octet-stream", type, title }, at) =>
		typeof source?.data === "string"
			? [{ name: title ?? `${type}-${at + 1}`, mimeType, data: source.data }]
			: [],
	);
	return {
		status: "success",
		result: text.join("\n"),
		...(attachments.length === 0 ? {} : { attachments }),
	};
}

function isContent(given: unknown): given is readonly Block[] {
	return Array.isArray(given) && given.every((each) => ["text", "image", "document"].includes(each?.type));
}
