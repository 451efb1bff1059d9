// What agents use and a package cannot contain.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Project, ProjectItem } from "../types/index.ts";

/** Returns one sentence for each thing that these items use and a package does not contain. */
export async function leftOut(project: Project, items: readonly ProjectItem[]): Promise<readonly string[]> {
	const servers = new Set(
		items.flatMap((item) => {
			const { tools = [] } = item.kind === "prompt" ? (item as ProjectItem<"prompt">).definition : {};
			return tools
				.map((entry) => (typeof entry === "string" ? entry : entry.name))
				.filter((name) => name.startsWith("mcp:"))
				.map((name) => name.slice("mcp:".length).split(".", 1)[0] ?? "");
		}),
	);
	return [
		...[...servers]
			.sort()
			.map((name) => `The MCP server "${name}". Projects that use the package need it in their mcp.json.`),
		...((await followsAgentsMd(project.directory))
			? ["AGENTS.md. Move what the agents need into their prompts."]
			: []),
	];
}

/** Whether the command line gives the project's agents its AGENTS.md files. */
async function followsAgentsMd(directory: string): Promise<boolean> {
	try {
		const { holdfast } = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
		return holdfast?.agentsMd === true;
	} catch {
		return false;
	}
}
