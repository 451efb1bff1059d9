/** The command that loads a project, reports its problems and writes the types of its names. */
import { relative } from "node:path";
import {
	loadProject,
	mcpProblems,
	type Project,
	type ProjectProblem,
	problemLine,
	writeTypes,
} from "@holdfast/threads";
import { isHoldfastError } from "holdfast";
import type { CommandIo } from "../terminal/index.ts";
import { exitCodes, UsageError } from "../work/index.ts";
import { lendPackages } from "./lend-packages.ts";
import { skillProblems } from "./project-context.ts";
import { namedServers } from "./project-servers.ts";

/** Checks a project; returns the exit code. */
export async function checkProject(
	{ directory, json }: { readonly directory: string; readonly json: boolean },
	io: CommandIo,
): Promise<number> {
	lendPackages();
	const failed = (problems: readonly ProjectProblem[]): number => {
		if (json) io.stdout.write(`${JSON.stringify({ type: "check", ok: false, problems })}\n`);
		else io.stderr.write(describeProblems(directory, problems));
		return exitCodes.failed;
	};
	let project: Project;
	try {
		project = await loadProject(directory);
	} catch (error) {
		const problems = problemsOf(error);
		if (problems === undefined) throw asUsage(error);
		return failed(problems);
	}
	const missing = mcpProblems(await namedServers(directory), project);
	if (missing.length > 0) return failed(missing);
	const types = await writeTypes(project);
	const warnings = [...project.warnings, ...(await skillProblems(directory))];
	if (json)
		io.stdout.write(`${JSON.stringify({ type: "check", ok: true, items: countItems(project), warnings })}\n`);
	else {
		for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
		io.stdout.write(`${summary(project)}\nTypes of their names are in ${relative(io.folder, types)}.\n`);
	}
	return exitCodes.completed;
}

/** Returns the problems of a project that failed to load; undefined for other errors. */
export function problemsOf(error: unknown): readonly ProjectProblem[] | undefined {
	if (!isHoldfastError(error) || error.code !== "project_invalid") return undefined;
	return error.data?.problems as readonly ProjectProblem[];
}

/** Formats the problems as lines. */
export function describeProblems(directory: string, problems: readonly ProjectProblem[]): string {
	const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
	return `${count}:\n${problems.map((problem) => `  ${problemLine(directory, problem)}\n`).join("")}`;
}

/** Converts the error for a folder without a project into a usage error. */
export function asUsage(error: unknown): unknown {
	if (!isHoldfastError(error) || error.code !== "project_missing") return error;
	return new UsageError(`${error.message} Make a project with: holdfast init DIR.`);
}

/** Counts a project's items by kind. */
function countItems(project: Project): Readonly<Record<string, number>> {
	const { agents, prompts, tools, models, hooks, effects, endpoints } = project;
	return {
		agents: agents.size,
		prompts: prompts.size,
		tools: tools.size,
		models: models.size,
		hooks: hooks.size,
		effects: effects.size,
		endpoints: endpoints.length,
	};
}

/** Summarises a project in one line. */
export function summary(project: Project): string {
	return Object.entries(countItems(project))
		.map(([kind, count]) => `${count} ${count === 1 ? kind.slice(0, -1) : kind}`)
		.join(", ");
}
