/** Chooses the agent of a session: the assistant, or a user's agent, whose file then defines everything about it. */
import { basename } from "node:path";
import { Agent, type AgentOptions, type AnyTool, type Host } from "holdfast";

import { loadAgent } from "./agent-file.ts";
import { createAssistant } from "./assistant.ts";
import type { Setup } from "./setup.ts";
import { UsageError } from "./usage-error.ts";

/** An agent and the host of its sessions. */
export interface OpenAgent {
	readonly agent: Agent;
	readonly host: Host;
	/** The display name of the model. */
	readonly modelName: string;
}

/** Further parts of an agent. */
export interface OpenAgentOptions {
	/** Added to the agent's own tools. */
	readonly tools?: readonly AnyTool[] | undefined;
	/** Receives a sentence for each AGENTS.md that the assistant does not use. Default: ignored. */
	readonly onNotice?: (notice: string) => void;
}

/**
 * Creates the agent. Like the assistant, a user's agent without a host gets the one from `openHost`.
 * @throws UsageError if it cannot be created.
 */
export async function openAgent(
	setup: Setup,
	openHost: () => Promise<Host> | Host,
	{ tools = [], onNotice }: OpenAgentOptions = {},
): Promise<OpenAgent> {
	if (setup.agent === undefined) {
		const host = await openHost();
		const agent = withTools(createAssistant({ host, ...setup, ...(onNotice && { onNotice }) }), tools);
		return { agent, host, modelName: setup.model.name };
	}
	const loaded = await loadAgent(setup.agent, openHost);
	const agent = withTools(loaded.agent, tools);
	const { host } = { ...agent } as { readonly host?: Partial<Host> };
	if (host?.journal === undefined || host.values === undefined)
		throw new UsageError(
			`The agent of ${setup.agent} has a host without a journal, so this command cannot use its sessions. Remove the host.`,
		);
	return { agent, host: host as Host, modelName: basename(setup.agent) };
}

/** Returns an agent with further tools. Spreading an agent returns its options. */
function withTools(agent: Agent, tools: readonly AnyTool[]): Agent {
	if (tools.length === 0) return agent;
	const options: AgentOptions = { ...agent };
	const { tools: own = [] } = options;
	if (Array.isArray(own)) return new Agent({ ...options, tools: [...own, ...tools] });
	return new Agent({
		...options,
		tools: { ...own, ...Object.fromEntries(tools.map((tool) => [tool.name, tool])) },
	});
}
