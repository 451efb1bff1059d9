// The tools of an agent, by id.

import { durationFault, HoldfastError } from "@holdfast/upp";
import { compileSchema } from "holdfast/execution";
import { executorTool, memoryTool, type RunnerTool, type ToolRetryOptions } from "../contract/index.ts";

const own: ReadonlySet<string> = new Set([memoryTool, executorTool]);

export class ToolRegistry {
	readonly #tools = new Map<string, RunnerTool>();

	/**
	 * Adds a tool.
	 * @throws HoldfastError `TOOL_INVALID`, `TOOL_DUPLICATE`, `SCHEMA_INVALID`.
	 */
	register(tool: RunnerTool): void {
		const problem = faultOf(tool);
		if (problem !== undefined)
			throw new HoldfastError("TOOL_INVALID", `A tool cannot be registered: ${problem}.`);
		const { id, schema } = tool;
		if (own.has(id) || this.#tools.has(id))
			throw new HoldfastError(
				"TOOL_DUPLICATE",
				`A tool with the id ${JSON.stringify(id)} already exists. Ids must be unique.`,
			);
		if (schema !== undefined) {
			try {
				compileSchema(schema);
			} catch (error) {
				const message = `The schema of the tool ${JSON.stringify(id)} is invalid: ${(error as Error).message}`;
				throw new HoldfastError("SCHEMA_INVALID", message, { cause: error });
			}
		}
		this.#tools.set(id, tool);
	}

	get(id: string): RunnerTool | undefined {
		return this.#tools.get(id);
	}

	/** Returns the tools in the order of registration. */
	list(): readonly RunnerTool[] {
		return [...this.#tools.values()];
	}
}

function faultOf(tool: RunnerTool): string | undefined {
	if (typeof tool !== "object" || tool === null) return "it is not an object";
	if (typeof tool.id !== "string" || tool.id === "") return "its `id` is not a string";
	if (typeof tool.run !== "function") return `${JSON.stringify(tool.id)} has no function \`run\``;
	const { schema, requires, safeByDefault, idempotent, timeoutMs } = tool;
	const named = JSON.stringify(tool.id);
	const foreign = Object.keys(tool).find((name) => name in foreignOptions);
	if (foreign !== undefined) return `${named} has \`${foreign}\`: ${foreignOptions[foreign]}`;
	if (schema !== undefined && typeof schema !== "boolean" && (typeof schema !== "object" || schema === null))
		return `the schema of ${named} is not an object`;
	if (requires !== undefined && requires !== "network" && requires !== "shell")
		return `${named} \`requires\` neither "network" nor "shell"`;
	if (safeByDefault !== undefined && typeof safeByDefault !== "boolean")
		return `the \`safeByDefault\` of ${named} is not a boolean`;
	if (idempotent !== undefined && typeof idempotent !== "boolean")
		return `the \`idempotent\` of ${named} is not a boolean`;
	const timeoutFault = durationFault(timeoutMs ?? 1, { most: Number.POSITIVE_INFINITY });
	if (timeoutFault !== undefined) return `the \`timeoutMs\` of ${named} must be ${timeoutFault}`;
	const retryFault = faultOfDelays(tool.retry);
	return retryFault === undefined ? undefined : `the \`retry\` of ${named} has ${retryFault}`;
}

/** Finds a problem in the delays between attempts. */
export function faultOfDelays(retry: ToolRetryOptions | undefined): string | undefined {
	if (retry !== undefined && (typeof retry !== "object" || retry === null)) return "no object of delays";
	for (const name of ["baseDelayMs", "maxDelayMs"] as const) {
		const fault = durationFault(retry?.[name] ?? 0, { least: 0 });
		if (fault !== undefined) return `a \`${name}\` that is not ${fault}`;
	}
	return undefined;
}

const askByPolicy = "a runner's tools do not have it. Let `safety.policyEngine` return `ask`";
/** Options that protect tools elsewhere. Here they would have no effect, and nothing would report it. */
const foreignOptions: Readonly<Record<string, string>> = {
	needsApproval: askByPolicy,
	needApproval: askByPolicy,
	requireApproval: askByPolicy,
	requiresApproval: askByPolicy,
	approval: askByPolicy,
	retryPolicy: "it is called `idempotent` here",
	timeout: "it is called `timeoutMs` here",
};
