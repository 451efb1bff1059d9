// The groups of the site's pages. A page without a group is added to the last one of its kind.

/** A group of the sidebar: pages by their path in the site, without `.md`, or a folder of them. */
export interface Group {
	readonly text: string;
	readonly pages: readonly string[];
	/** Adds the pages of this folder that are in no other group. */
	readonly rest?: string;
	/** Whether it is one link in the sidebars of other pages; it needs `rest`. */
	readonly collapsed?: true;
}

/** The sidebar of guides, concepts and packages. */
export const outline: readonly Group[] = [
	{
		text: "Get started",
		pages: [
			"tutorial",
			"which-call",
			"guide/first-project",
			"guide/models",
			"guide/tools",
			"guide/common-mistakes",
		],
	},
	{
		text: "Agents",
		pages: [
			"guide/structured-output",
			"guide/steps",
			"guide/tool-search",
			"guide/context",
			"guide/agents-md",
			"guide/skills",
			"guide/large-results",
			"guide/strategies",
			"guide/sub-agents",
			"guide/workflows",
			"guide/workflow-operations",
			"guide/middleware",
			"guide/plugins",
			"guide/state",
			"guide/checkpoints",
			"guide/prompts",
			"guide/connectors",
			"guide/memory",
			"guide/runner",
		],
	},
	{
		text: "Sessions",
		pages: [
			"guide/sessions",
			"guide/session-history",
			"guide/session-order",
			"guide/agent-api",
			"guide/remote-tools",
			"guide/watching",
			"guide/hosts",
			"guide/execution-hosts",
			"guide/session-stores",
			"guide/crash-safety",
			"guide/journal-upkeep",
			"guide/redaction",
		],
	},
	{
		text: "Over HTTP",
		pages: [
			"guide/serving",
			"guide/http-routes",
			"guide/client-settings",
			"guide/authentication",
			"guide/server-monitoring",
			"guide/client",
			"guide/ui-frameworks",
			"guide/inspector",
			"guide/mcp",
			"guide/mcp-server",
			"guide/a2a",
			"guide/editors",
			"guide/telemetry",
		],
	},
	{
		text: "Projects of files",
		pages: [
			"guide/projects",
			"guide/threads",
			"guide/thread-files",
			"guide/hooks",
			"guide/effects",
			"guide/endpoints",
			"guide/packing",
			"guide/sandbox",
			"guide/code-mode",
		],
	},
	{
		text: "In production",
		pages: [
			"deployment",
			"guide/workers",
			"guide/postgres",
			"guide/postgres-dispatch",
			"guide/move-store",
			"guide/scaling",
			"guide/cloudflare",
			"guide/runtimes",
			"guide/performance",
			"guide/performance-method",
			"guide/comparison",
		],
	},
	{ text: "Tools", pages: ["guide/chat", "guide/testing"], rest: "guide" },
	{ text: "Cookbook", pages: ["cookbook/index"], rest: "cookbook", collapsed: true },
	{ text: "Coming from", pages: [], rest: "migrate" },
	{ text: "Concepts", pages: ["design", "guide/names-and-entries", "glossary", "packages"] },
	{ text: "Errors", pages: ["errors"], rest: "errors", collapsed: true },
	{ text: "Decisions", pages: [], rest: "adr", collapsed: true },
	{ text: "Packages", pages: [], rest: "packages", collapsed: true },
	{ text: "Examples", pages: ["examples/index"], rest: "examples", collapsed: true },
	{ text: "About", pages: ["changelog", "contributing"] },
];
