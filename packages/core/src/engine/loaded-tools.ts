// Tools that the model is not sent until another tool of the agent has loaded them (`loadedBy`). Results record what they
// loaded, and the state keeps the names in order; loaded tools are appended to those that are always sent (keeps I2).
import { HoldfastError, type ModelTool } from "@holdfast/upp";
import { AgentState } from "../state/index.ts";
import type { EngineTool, LoadableTools } from "../tools/index.ts";
import type { EngineAgent } from "./engine-agent.ts";
import { fingerprintWith, toolsPart } from "./fingerprint.ts";
import type { Run } from "./run.ts";

/** The tools of an agent, by whether they are always sent. */
export interface SortedTools {
	/** The tools that are always sent. */
	readonly toolList: readonly EngineTool[];
	/** The others, by the name of the tool that loads them. Absent if there are none. */
	readonly loadable?: ReadonlyMap<string, readonly EngineTool[]>;
}

/** @throws HoldfastError `invalid_tool` if a tool names a loader that the agent does not have, or that is itself loaded. */
export function sortTools(tools: ReadonlyMap<string, EngineTool>): SortedTools {
	const all = [...tools.values()];
	if (all.every(({ loadedBy }) => loadedBy === undefined)) return { toolList: all };
	const loadable = new Map<string, EngineTool[]>();
	for (const tool of all) {
		const { name, loadedBy } = tool;
		if (loadedBy === undefined) continue;
		const loader = tools.get(loadedBy);
		if (loader === undefined || loader.loadedBy !== undefined || loader.kind === "remote")
			throw new HoldfastError(
				"invalid_tool",
				`The tool "${name}" is loaded by "${loadedBy}", which is not a tool of the agent that is always sent and has a function. Add that tool, or remove \`loadedBy\`.`,
				{ data: { name, loadedBy } },
			);
		const others = loadable.get(loadedBy);
		if (others === undefined) loadable.set(loadedBy, [tool]);
		else others.push(tool);
	}
	return { toolList: all.filter(({ loadedBy }) => loadedBy === undefined), loadable };
}

/** The tools sent with a request, and how they change its fingerprint. */
export interface SentTools {
	readonly list: readonly EngineTool[];
	/** Absent if the list is `toolList` of the agent. */
	readonly part?: string;
}

/** By agent and list of loaded names. */
const sent = new WeakMap<EngineAgent, WeakMap<readonly string[], SentTools>>();

/** Returns the tools of the next request. A loaded tool that the agent no longer has is left out. */
export function sentTools({ agent, state }: Run): SentTools {
	const names = loadedNames(state.agent);
	if (names.length === 0 || agent.loadable === undefined) return { list: agent.toolList };
	const ofAgent = sent.get(agent) ?? new WeakMap<readonly string[], SentTools>();
	sent.set(agent, ofAgent);
	const known = ofAgent.get(names);
	if (known !== undefined) return known;
	const loaded = names.map((name) => agent.tools.get(name)).filter((tool) => tool?.loadedBy !== undefined);
	const list = [...agent.toolList, ...(loaded as EngineTool[])];
	const tools = { list, part: toolsPart(list) };
	ofAgent.set(names, tools);
	return tools;
}

/** Returns the fingerprint of a request with these tools; undefined if it is that of the run. */
export function fingerprintOfSent({ state }: Run, { part }: Partial<SentTools> = {}): string | undefined {
	return part === undefined ? undefined : fingerprintWith(state.run?.fingerprint ?? "", { tools: part });
}

/** Returns the names of the tools that were loaded so far, in order. */
function loadedNames(state: AgentState): readonly string[] {
	return AgentState.partsOf(state).loadedTools;
}

/** The tools that a call can load. The names that it loads are recorded with its result. */
export class Loader implements LoadableTools {
	readonly tools: readonly ModelTool[];
	readonly #loaded = new Set<string>();
	readonly #toolName: string;
	/** The names of `tools`. Created when the first tool is loaded. */
	#names: ReadonlySet<string> | undefined;

	constructor(toolName: string, tools: readonly EngineTool[]) {
		this.#toolName = toolName;
		this.tools = tools;
	}

	/** The names of the loaded tools; undefined without any. */
	get loaded(): readonly string[] | undefined {
		return this.#loaded.size === 0 ? undefined : [...this.#loaded];
	}

	load(names: readonly string[]): void {
		this.#names ??= new Set(this.tools.map(({ name }) => name));
		for (const name of names) {
			if (!this.#names.has(name))
				throw new HoldfastError(
					"invalid_argument",
					`The tool "${this.#toolName}" cannot load "${name}": no tool of that name has it as its \`loadedBy\`.`,
				);
			this.#loaded.add(name);
		}
	}
}
