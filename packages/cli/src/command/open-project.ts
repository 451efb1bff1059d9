/** Opens a project of files and its threads, for serving or development. */
import { join } from "node:path";
import {
	type EnvGiven,
	loadProject,
	type Project,
	type ProjectSource,
	type ThreadLog,
	type Threads,
	threads,
} from "@holdfast/threads";
import { isHoldfastError } from "holdfast";
import type { Plugin } from "holdfast/plugins";
import type { CommandIo } from "../terminal/index.ts";
import { openDatabase, UsageError } from "../work/index.ts";
import { asUsage, describeProblems, problemsOf } from "./check-project.ts";
import { lendPackages } from "./lend-packages.ts";
import { projectContext } from "./project-context.ts";
import { namedEnvironment, readVariables } from "./project-environment.ts";
import { connectServers, type ProjectServers } from "./project-servers.ts";

/** A project with the surroundings its threads need. */
export interface OpenProject {
	readonly project: Project;
	readonly env: EnvGiven;
	/** The project's MCP servers; the caller closes them. */
	readonly servers: ProjectServers | undefined;
	/** Its skills and its AGENTS.md files. */
	readonly plugins: readonly Plugin[];
}

/** Returns the given database, or the default one in the project's folder. */
export function projectDatabase(
	{ db, dbGiven }: { readonly db: string; readonly dbGiven: string | undefined },
	directory: string,
): string {
	return dbGiven === undefined ? join(directory, ".holdfast/holdfast.db") : db;
}

/** Loads a project and connects its servers. @throws UsageError with its problems. */
export async function openProject(
	directory: string,
	{ environment, stderr }: Pick<CommandIo, "environment" | "stderr">,
): Promise<OpenProject> {
	lendPackages();
	const project = await loadProject(directory).catch((error) => {
		const problems = problemsOf(error);
		if (problems === undefined) throw asUsage(error);
		throw new UsageError(describeProblems(directory, problems).trimEnd());
	});
	const variables = await readVariables(directory, environment);
	const onNotice = (notice: string): void => void stderr.write(`${notice}\n`);
	const plugins = await projectContext(directory, { reload: "never", onNotice });
	const servers = await connectServers(directory, variables);
	return { project, env: namedEnvironment(project, variables), servers, plugins };
}

/** Options for opening threads. */
export interface OpenThreadsOptions extends Omit<OpenProject, "project"> {
	readonly project: ProjectSource;
	/** Path or address of the database. */
	readonly db: string;
	readonly onLog: (entry: ThreadLog) => void;
	readonly editablePrompts: boolean;
}

/** Opens the threads of a project in a database. @throws UsageError if tools of MCP servers are missing. */
export async function openThreads({ db, servers, ...options }: OpenThreadsOptions): Promise<Threads> {
	const host = await openDatabase(db);
	try {
		return threads({
			...options,
			host,
			...(servers === undefined ? {} : { mcp: servers }),
			// Clients that follow a thread receive the model's text as it streams.
			keepDeltasMs: 20,
		});
	} catch (error) {
		await host.close();
		if (isHoldfastError(error) && error.code === "mcp_tools_missing") throw new UsageError(error.message);
		throw error;
	}
}
