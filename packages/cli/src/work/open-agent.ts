/** Chooses the agent of a session: the assistant, or a user's agent, whose file then defines everything about it. */
import { basename } from "node:path";
import type { Agent, Host } from "holdfast";
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

/**
 * Creates the agent. Like the assistant, a user's agent without a host gets the one from `openHost`.
 * @throws UsageError if it cannot be created.
 */
export async function openAgent(setup: Setup, openHost: () => Promise<Host> | Host): Promise<OpenAgent> {
	if (setup.agent === undefined) {
		const host = await openHost();
		return { agent: createAssistant({ host, ...setup }), host, modelName: setup.model.name };
	}
	const { agent } = await loadAgent(setup.agent, openHost);
	const { host } = { ...agent } as { readonly host?: Partial<Host> };
	if (host?.journal === undefined || host.values === undefined)
		throw new UsageError(
			`The agent of ${setup.agent} has a host that is no journal, so its sessions cannot be worked on from here. Leave its host out.`,
		);
	return { agent, host: host as Host, modelName: basename(setup.agent) };
}
