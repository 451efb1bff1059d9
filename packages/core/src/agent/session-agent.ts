// The agent as its sessions see it: with the tools and hooks of its plugins, once they are set up.
import type { EngineAgent } from "../engine/index.ts";
import { askModel, checkPlugins, setupPlugins } from "../plugins/index.ts";
import type { SessionAgent, SessionPlugins } from "../sessions/index.ts";
import { delegatingAgent, type Subagent } from "../subagents/delegate/index.ts";
import type { AnyTool } from "../tools/index.ts";
import { type AgentOptions, resolveAgent } from "./options.ts";

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/**
 * Begins to set the plugins up; sessions wait for it before their first turn.
 * @throws TypeError for what is no list of plugins.
 */
export function sessionAgentOf(
	id: string,
	options: AgentOptions,
	engine: EngineAgent,
	subagents: readonly Subagent[] = [],
): SessionAgent {
	const { plugins = [], namespace } = options;
	checkPlugins(plugins);
	let ofPlugins: readonly AnyTool[] = [];
	const engineWith = (tools: readonly AnyTool[]): EngineAgent =>
		resolveAgent(id, { ...options, tools: [...toolList(options.tools), ...ofPlugins, ...tools] });
	const agent: Mutable<SessionAgent> = {
		engine,
		plugins: undefined,
		ready: undefined,
		tools: "engine-tools",
		namespace,
	};
	if (subagents.length > 0) agent.inTable = (table) => delegatingAgent(agent, subagents, table, engineWith);
	if (plugins.length === 0) return agent;
	const ready = setupPlugins(plugins, { ask: askModel(engine) }).then((set) => {
		agent.plugins = set satisfies SessionPlugins;
		ofPlugins = set.tools;
		if (ofPlugins.length > 0) agent.engine = engineWith([]);
		agent.ready = undefined;
	});
	ready.catch(() => {}); // who sends, or waits for create(), hears of it
	agent.ready = ready;
	return agent;
}

/** Tools as a list that others may join; those of a record have its names. */
function toolList(tools: AgentOptions["tools"]): readonly AnyTool[] {
	if (tools === undefined || Array.isArray(tools)) return tools ?? [];
	return Object.entries(tools).map(([name, tool]) => ({ ...tool, name }));
}
