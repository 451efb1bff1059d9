/** Loads a user's agent: the default export of a module, which is an agent or its options. */
import { existsSync, statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Agent, type AgentOptions, agent, type Host } from "holdfast";
import { chatSummaries } from "./chat-summary.ts";
import { describeError } from "./describe-error.ts";
import { UsageError } from "./usage-error.ts";

/** An agent from a file, and the host of its sessions. */
export interface LoadedAgent {
	readonly agent: Agent;
	/** Whether the agent has its own host; otherwise it uses the given one. */
	readonly host: "own" | "given";
}

/**
 * Imports a module (also TypeScript that Node can strip) and creates its agent. An agent without a host gets the
 * one from `openHost`, which is called only after all other checks, and is closed if the agent cannot be created.
 * @throws UsageError if the file does not exist, cannot be imported, or exports no agent.
 */
export async function loadAgent(file: string, openHost: () => Promise<Host> | Host): Promise<LoadedAgent> {
	const { default: exported } = await importAgentFile(file);
	if (!isAgentLike(exported))
		throw new UsageError(
			`${file} exports no agent${typeof exported === "object" && exported !== null ? ": it has no `model`" : ""}. Its default export must be an agent, new Agent({ model, … }), or such options.`,
		);
	// Spreading an agent returns its options, even if it comes from another installation of the package.
	const { host, plugins = [], ...rest }: AgentOptions = { ...exported };
	const options: AgentOptions = { ...rest, plugins: [...plugins, chatSummaries()] };
	if (options.checkpoints !== undefined)
		throw new UsageError(
			`The agent of ${file} has \`checkpoints\`, which apply only to calls. Remove them: sessions store their own state.`,
		);
	// Rejects unknown options: a misspelt one would be ignored silently.
	const make = (all: AgentOptions): Agent => (exported instanceof Agent ? agent({ ...all }) : new Agent(all));
	const made = (all: AgentOptions): Agent => {
		try {
			return make(all);
		} catch (error) {
			throw new UsageError(`The agent of ${file} cannot be made. ${describeError(error)}`);
		}
	};
	if (host !== undefined) return { agent: made({ ...options, host }), host: "own" };
	// Reports invalid options before a database is created.
	made(options);
	const opened = await openHost();
	try {
		return { agent: made({ ...options, host: opened }), host: "given" };
	} catch (error) {
		await opened.close();
		throw error;
	}
}

/**
 * Returns the exports of a module with an agent.
 * @throws UsageError if the file does not exist or cannot be imported.
 */
export async function importAgentFile(file: string): Promise<Readonly<Record<string, unknown>>> {
	return importFile(file, " Give a module that exports an agent with --agent.");
}

/**
 * Returns the default export of a module.
 * @throws UsageError if the file does not exist or cannot be imported.
 */
export async function importDefault(file: string): Promise<unknown> {
	return (await importFile(file, "")).default;
}

async function importFile(file: string, advice: string): Promise<Readonly<Record<string, unknown>>> {
	if (!existsSync(file) || !statSync(file).isFile())
		throw new UsageError(`The file ${file} does not exist.${advice}`);
	try {
		return (await import(pathToFileURL(file).href)) as Readonly<Record<string, unknown>>;
	} catch (error) {
		throw new UsageError(`${file} cannot be imported. ${describeError(error)}${placeOf(error)}`);
	}
}

/** Returns the location of an error in the user's files, if its stack contains one. */
function placeOf(error: unknown): string {
	const stack = error instanceof Error ? (error.stack ?? "") : "";
	const places = [...stack.matchAll(/(file:\/\/[^\s()]+?):(\d+)/g)];
	const [, url, line] = places.find(([, each = ""]) => !each.includes("/node_modules/")) ?? [];
	return url === undefined ? "" : ` (${fileURLToPath(url)}:${line})`;
}

function isAgentLike(exported: unknown): exported is AgentOptions {
	return typeof exported === "object" && exported !== null && "model" in exported;
}
