// The templates: a description of each, and the commands to type once its folder exists.

/** Names of the templates. */
export type TemplateName = "script" | "service" | "project" | "next-chat" | "worker";

/** A template for a new project. */
export interface Template {
	/** The value of `--template`. */
	readonly name: TemplateName;
	/** A title for people. */
	readonly title: string;
	/** Its purpose, in one line. */
	readonly hint: string;
	/** The npm scripts to run after the packages are installed, in order. */
	readonly scripts: readonly { readonly script: string; readonly what: string }[];
	/** The file in which a real model replaces the offline one. */
	readonly realModel: string;
}

const key = "Set OPENAI_API_KEY for a real model, or put another provider's into";

/** The templates, the simplest first. */
export const templates: readonly Template[] = [
	{
		name: "script",
		title: "Script",
		hint: "an agent with a tool that you run in a terminal",
		scripts: [
			{ script: "start", what: "asks the agent" },
			{ script: "test", what: "tests it, without a network" },
		],
		realModel: `${key} model.ts.`,
	},
	{
		name: "service",
		title: "Service",
		hint: "durable sessions over HTTP, with the inspector",
		scripts: [
			{ script: "dev", what: "serves it at http://127.0.0.1:4280, restarts when a file changes" },
			{ script: "test", what: "tests it, without a network" },
		],
		realModel: `${key} model.ts.`,
	},
	{
		name: "project",
		title: "Project",
		hint: "agents, prompts, tools and hooks, each in its own file",
		scripts: [
			{ script: "dev", what: "serves it at http://127.0.0.1:4280, and applies each change" },
			{ script: "test", what: "tests it, without a network" },
		],
		realModel: "For a real model replace the provider in agents/models/offline.ts.",
	},
	{
		name: "next-chat",
		title: "Next.js chat",
		hint: "a web chat that continues after a reload or a restart",
		scripts: [
			{ script: "dev", what: "serves it at http://localhost:3000" },
			{ script: "build", what: "builds it; npm start serves the build" },
		],
		realModel: `${key} agent/model.ts.`,
	},
	{
		name: "worker",
		title: "Cloudflare Worker",
		hint: "each session in a Durable Object",
		scripts: [
			{ script: "dev", what: "serves it at http://localhost:8787, in the local Workers runtime" },
			{ script: "deploy", what: "deploys it to your Cloudflare account" },
		],
		realModel: "For a real model put OPENAI_API_KEY into .dev.vars, or another provider's into src/model.ts.",
	},
];
