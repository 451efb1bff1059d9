// The compared packages, their versions, and their rows. Versions are pinned; their dependencies are resolved by the
// registry, and kept in the lock file of each folder in the cache.

export interface Peer {
	/** Name of its folder and its subject. */
	readonly name: string;
	readonly title: string;
	/** The packages to install. The version of the first is shown. */
	readonly packages: readonly string[];
	/** The module that its users import first. */
	readonly entry: string;
	/** Its rows in addition to import and size. */
	readonly rows: readonly Row[];
	/** Additional packages for the row with a store. */
	readonly store?: readonly string[];
}

export type Row = "loop-10" | "loop-200" | "stream" | "conversations" | "durable" | "takeover";

const inMemory: readonly Row[] = ["loop-10", "loop-200", "stream", "conversations"];

export const peers: readonly Peer[] = [
	{
		name: "ai-sdk",
		title: "AI SDK (ToolLoopAgent)",
		packages: ["ai@7.0.173", "zod@4.6.7"],
		entry: "ai",
		rows: inMemory,
	},
	{
		name: "pi",
		title: "pi-agent-core",
		packages: ["@mariozechner/pi-agent-core@0.73.1", "@mariozechner/pi-ai@0.73.1"],
		entry: "@mariozechner/pi-agent-core",
		rows: inMemory,
	},
	{
		name: "tanstack",
		title: "TanStack AI",
		packages: ["@tanstack/ai@0.58.0"],
		entry: "@tanstack/ai",
		rows: inMemory,
	},
	{
		name: "openai-agents",
		title: "OpenAI Agents",
		packages: ["@openai/agents@0.20.0", "zod@4.6.7"],
		entry: "@openai/agents",
		rows: inMemory,
	},
	{
		name: "langgraph",
		title: "LangGraph.js",
		packages: ["@langchain/langgraph@1.7.3", "@langchain/core@1.4.0", "zod@4.6.7"],
		entry: "@langchain/langgraph",
		rows: [...inMemory, "durable", "takeover"],
		store: ["@langchain/langgraph-checkpoint-sqlite@1.0.4"],
	},
	{
		name: "mastra",
		title: "Mastra",
		packages: ["@mastra/core@1.71.0", "zod@4.6.7"],
		entry: "@mastra/core/agent",
		rows: inMemory,
	},
	{ name: "flue", title: "Flue", packages: ["@flue/runtime@2.1.0"], entry: "@flue/runtime", rows: [] },
	{ name: "eve", title: "eve", packages: ["eve@0.80.1"], entry: "eve", rows: [] },
];

/** Returns the shown version of a peer. */
export function versionOf({ packages: [first = ""] }: Peer): string {
	return first.slice(first.lastIndexOf("@") + 1);
}
