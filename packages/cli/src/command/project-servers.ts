/** The MCP servers in a project's `mcp.json`. They are connected by `@holdfast/mcp`, which the project installs. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { GivenMcp } from "@holdfast/threads";
import { UsageError } from "../work/index.ts";
import type { Variables } from "./project-environment.ts";

/** Connected servers. */
export interface ProjectServers extends GivenMcp {
	close(): Promise<void>;
}

/** The used part of `@holdfast/mcp`. */
interface McpPackage {
	connectMcp(servers: Readonly<Record<string, unknown>>): Promise<ProjectServers>;
}

const packageName = "@holdfast/mcp";
const fileName = "mcp.json";

/**
 * Connects the servers of a project; returns undefined if it names none. `${NAME}` in the file is replaced by an
 * environment value.
 * @throws UsageError if the file is invalid, a value is missing or the package is not installed.
 */
export async function connectServers(
	directory: string,
	variables: Variables,
	load: (directory: string) => Promise<McpPackage> = loadPackage,
): Promise<ProjectServers | undefined> {
	const path = join(directory, fileName);
	const text = await textOf(path);
	if (text === undefined) return undefined;
	const servers = readServers(path, text, (value) => withValues(path, value, variables));
	const { connectMcp } = await load(directory);
	try {
		return await connectMcp(servers);
	} catch (error) {
		throw new UsageError(`The MCP servers of ${path} cannot be used: ${(error as Error).message}`);
	}
}

/**
 * Returns the servers of a project by name without connecting them, as if all were unavailable.
 * @throws UsageError if the file is invalid.
 */
export async function namedServers(directory: string): Promise<GivenMcp> {
	const path = join(directory, fileName);
	const text = await textOf(path);
	const names = text === undefined ? [] : Object.keys(readServers(path, text, (value) => value));
	return { tools: () => [], servers: () => names.map((name) => ({ name, status: "away" })) };
}

async function textOf(path: string): Promise<string | undefined> {
	return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return undefined;
		throw new UsageError(`${path} cannot be read: ${error.message}`);
	});
}

function readServers(
	path: string,
	text: string,
	filled: (text: string) => string,
): Readonly<Record<string, unknown>> {
	let read: unknown;
	try {
		read = JSON.parse(text, (_, value) => (typeof value === "string" ? filled(value) : value));
	} catch (error) {
		if (error instanceof UsageError) throw error;
		throw new UsageError(`${path} is not JSON: ${(error as Error).message}`);
	}
	const { mcpServers } = (read ?? {}) as { readonly mcpServers?: unknown };
	if (typeof mcpServers === "object" && mcpServers !== null && !Array.isArray(mcpServers))
		return mcpServers as Readonly<Record<string, unknown>>;
	throw new UsageError(`${path} must be an object with \`mcpServers\`: servers by their names.`);
}

function withValues(path: string, text: string, variables: Variables): string {
	return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
		const value = variables[name];
		if (value === undefined)
			throw new UsageError(`${path} uses \${${name}}, which the environment does not have.`);
		return value;
	});
}

/** Loads the project's copy of the package, or the one installed with this command. */
async function loadPackage(directory: string): Promise<McpPackage> {
	const from = [join(directory, "package.json"), import.meta.filename];
	for (const place of from) {
		let path: string;
		try {
			path = createRequire(place).resolve(packageName);
		} catch {
			continue;
		}
		return (await import(pathToFileURL(path).href)) as McpPackage;
	}
	throw new UsageError(
		`The project names MCP servers in mcp.json, and ${packageName} is not installed. Install it: npm install ${packageName}`,
	);
}
