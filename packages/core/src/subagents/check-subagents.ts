// Validates the option `subagents` on entry: each sub-agent needs a description and a name that is valid as a tool's
// name.
import { HoldfastTypeError } from "@holdfast/upp";
import type { SessionAgent } from "../sessions/index.ts";
import { type ExecutionStrategy, isDecider } from "../strategies/index.ts";
import type { ToolSet } from "../tools/index.ts";

/** A sub-agent, as its parent uses it. */
export interface Subagent {
	readonly name: string;
	readonly description: string;
	/** Name of the tool that delegates to it. */
	readonly toolName: string;
	readonly agent: SessionAgent;
}

/** The fields that every entry of the option requires. */
interface Named {
	readonly name?: unknown;
	readonly description?: unknown;
	readonly execution?: unknown;
}

/** The agent that has the option. */
export interface SubagentOwner {
	readonly model?: unknown;
	readonly tools?: ToolSet | undefined;
}

/** Limited so that the tool's name has at most 64 characters. */
const namePattern = /^[a-z][a-z0-9_-]{0,51}$/;
/** Names of tools that the runtime itself adds. */
const reserved: ReadonlySet<string> = new Set(["background_output", "background_cancel"]);

/**
 * Validates and resolves the option. `agentOf` returns the sessions' view of an agent, and undefined for any other value.
 * @throws HoldfastError `invalid_option` naming the member and its problem.
 */
export function checkSubagents(
	subagents: unknown,
	{ model, tools }: SubagentOwner,
	agentOf: (candidate: object) => SessionAgent | undefined,
): readonly Subagent[] {
	if (subagents === undefined) return [];
	if (!Array.isArray(subagents))
		throw new HoldfastTypeError("invalid_option", "The option `subagents` must be an array of agents.");
	if (typeof model === "function") {
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `subagents` cannot be given with a function as `model`: that function owns its tools.",
		);
	}
	const taken = new Set([...namesOf(tools)]);
	if (subagents.length > 0) {
		for (const name of reserved) if (taken.has(name)) throw isReserved(name);
	}
	return subagents.map((candidate: unknown, at): Subagent => {
		const member = `subagents[${at}]`;
		const agent = typeof candidate === "object" && candidate !== null ? agentOf(candidate) : undefined;
		if (agent === undefined)
			throw new HoldfastTypeError("invalid_option", `${member} must be an Agent, made by this \`holdfast\`.`);
		const { name, description, execution } = candidate as Named;
		if (typeof name !== "string" || name === "") {
			throw new HoldfastTypeError(
				"invalid_option",
				`${member} has no \`name\`. A sub-agent needs one, for the tool that gives it work.`,
			);
		}
		if (!namePattern.test(name)) {
			throw new HoldfastTypeError(
				"invalid_option",
				`${member} has the \`name\` "${name}", which is not valid in a tool name: use a lower-case letter, then at most 51 of a-z, 0-9, _ and -.`,
			);
		}
		if (typeof description !== "string" || description.trim() === "") {
			throw new HoldfastTypeError(
				"invalid_option",
				`${member} ("${name}") has no \`description\`. Describe its purpose: the model uses it to choose.`,
			);
		}
		if (execution !== undefined && !isDecider(execution as ExecutionStrategy)) {
			throw new HoldfastTypeError(
				"invalid_option",
				`${member} ("${name}") has an \`execution\` with its own \`execute\`, which cannot run in a session.`,
			);
		}
		const toolName = delegateToolName(name);
		if (taken.has(toolName)) {
			throw new HoldfastTypeError(
				"invalid_option",
				`${member} ("${name}") needs the tool name ${toolName}, which another tool or sub-agent has. Rename one of them.`,
			);
		}
		taken.add(toolName);
		return { name, description, toolName, agent };
	});
}

/** Returns the name of the tool that delegates work to a sub-agent. */
export function delegateToolName(name: string): string {
	return `delegate_to_${name.replaceAll("-", "_")}`;
}

/** Returns the names of the tools that an agent has for its sub-agents. */
export function subagentToolNames(subagents: readonly { readonly name?: string }[]): readonly string[] {
	if (subagents.length === 0) return [];
	return [...reserved, ...subagents.map(({ name = "" }) => delegateToolName(name))];
}

function isReserved(name: string): TypeError {
	return new HoldfastTypeError(
		"invalid_option",
		`The option \`tools\` has "${name}", a name that \`subagents\` need. Rename the tool.`,
	);
}

function namesOf(tools: ToolSet | undefined): readonly unknown[] {
	if (tools === undefined || tools === null) return [];
	return Array.isArray(tools) ? tools.map((tool) => tool?.name) : Object.keys(tools);
}
