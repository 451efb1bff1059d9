// A tool of a server as a tool of an agent. It keeps its original definition: the definition that a model sees never
// changes during a run. A call is refused if the server's definition has changed.
import { HoldfastError, type JSONSchema, repairSchema } from "@holdfast/upp";
import type { Tool } from "@modelcontextprotocol/client";
import { type AnyTool, type RetryPolicy, type ToolContext, tool } from "holdfast";
import type { McpServerOptions } from "./connect-options.ts";
import type { OfferedTools } from "./offered-tools.ts";
import type { ServerLink } from "./server-link.ts";
import { readContents, readFailure, readResult } from "./tool-result.ts";

/** A tool of an MCP server, for `tools` of an agent. */
export interface McpTool extends AnyTool {
	/** The tool name for the model. */
	readonly name: string;
	/** The server's title of the tool. */
	readonly label?: string;
	/** The server's description, for the model. */
	readonly description: string;
	/** The server's schema of the arguments. */
	readonly parameters: JSONSchema;
	/** Calls the tool on its server. */
	run(params: Record<string, unknown>, context: ToolContext): Promise<unknown>;
	/** Name of the server in the argument of `connectMcp`. */
	readonly server: string;
	/** Its name on the server. */
	readonly toolName: string;
}

/** @throws HoldfastError `invalid_schema` and similar codes, for a schema that cannot be used. */
export function mcpTool(
	name: string,
	definition: Tool,
	link: ServerLink,
	offered: OfferedTools,
	{ needsApproval, retryPolicy: policy = "manual-recovery" }: McpServerOptions,
): McpTool {
	const { name: toolName, title, description = title ?? "", inputSchema, annotations } = definition;
	const retryPolicy = policy === "as-annotated" ? policyOf(annotations) : policy;
	const made = tool<Record<string, unknown>, string, Promise<unknown>>({
		name,
		...(title === undefined ? {} : { label: title }),
		description,
		...schemasOf(inputSchema as JSONSchema),
		retryPolicy,
		...(needsApproval === undefined
			? {}
			: {
					needsApproval:
						typeof needsApproval === "boolean"
							? needsApproval
							: (params: unknown) => needsApproval(toolName, params),
				}),
		async run(params: Record<string, unknown>, context: ToolContext) {
			await link.connect();
			const current = offered.callable(toolName);
			const again = retryPolicy !== "manual-recovery";
			const result = await link.call({ tool: current, params, context, again });
			if (result.isError !== true) return readResult(result);
			throw new HoldfastError("mcp_tool_failed", readFailure(result), {
				data: { server: link.name, tool: toolName },
			});
		},
	});
	return { ...(made as unknown as Omit<McpTool, "server" | "toolName">), server: link.name, toolName };
}

/**
 * Returns the schemas of a tool. The server validates arguments itself: a schema that cannot be used for validation here
 * is only shown to the model.
 */
function schemasOf(given: JSONSchema): { parameters: JSONSchema; inputSchema?: JSONSchema } {
	const parameters = repairSchema(given);
	try {
		tool({ name: "check", description: "", parameters, run() {} });
		return { parameters };
	} catch {
		return { parameters, inputSchema: { type: "object" } };
	}
}

/** Returns the tool that reads the resources of a server, which results name by their URIs. */
export function resourceTool(
	name: string,
	link: ServerLink,
	{ needsApproval, retryPolicy: policy = "manual-recovery" }: McpServerOptions,
): McpTool {
	// Repeating a read is only safe if the server is trusted to follow the protocol.
	const retryPolicy = policy === "as-annotated" ? "pure" : policy;
	const made = tool<{ uri?: string }, string, Promise<unknown>>({
		name,
		description: `Reads a resource of the server "${link.name}" by its URI. Without one, lists the resources there are.`,
		parameters: { type: "object", properties: { uri: { type: "string", minLength: 1 } } },
		retryPolicy,
		...(needsApproval === undefined
			? {}
			: {
					needsApproval:
						typeof needsApproval === "boolean"
							? needsApproval
							: (params: unknown) => needsApproval(resourceToolName, params),
				}),
		async run({ uri }, context) {
			const use = { context, again: retryPolicy !== "manual-recovery" };
			if (uri !== undefined) return readContents(await link.read(uri, use));
			const { resources } = await link.resources(use);
			return resources.map(({ uri: at, name: called, description, mimeType }) => ({
				uri: at,
				name: called,
				...(description === undefined ? {} : { description }),
				...(mimeType === undefined ? {} : { mimeType }),
			}));
		},
	});
	return { ...(made as unknown as McpTool), server: link.name, toolName: resourceToolName };
}

/** The tool's name, if it is not taken. */
export const resourceToolName = "read_resource";

function policyOf(annotations: Tool["annotations"]): RetryPolicy {
	if (annotations?.readOnlyHint === true) return "pure";
	return annotations?.idempotentHint === true ? "idempotent" : "manual-recovery";
}
