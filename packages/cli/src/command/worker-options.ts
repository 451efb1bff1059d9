/** What `holdfast worker` works on: an agent, an agent with models, or a project. */
import { resolve } from "node:path";
import { UsageError } from "../work/index.ts";
import { projectFolder } from "./project-options.ts";

/** Options of a worker. */
export interface WorkerOptions {
	/** Absolute path of a module that exports an agent; undefined for the assistant. */
	readonly agent: string | undefined;
	/** Absolute path of a file that exports models by name; undefined for the models that the agent's module exports. */
	readonly models: string | undefined;
	/** Absolute path of a project's folder; undefined when working with an agent. */
	readonly project: string | undefined;
}

/** The options as given. */
type Given = { readonly [Name in "agent" | "models" | "project"]?: string | undefined };

/** @throws UsageError if the options contradict each other. */
export function readWorkerOptions(
	folder: string | undefined,
	given: Given,
	{
		base,
		environment,
	}: { readonly base: string; readonly environment: Readonly<Record<string, string | undefined>> },
): WorkerOptions {
	const agent = given.agent ?? (environment.HOLDFAST_AGENT || undefined);
	const models = given.models ?? (environment.HOLDFAST_MODELS || undefined);
	const project = givenProject("worker", folder, given) ?? (environment.HOLDFAST_PROJECT || undefined);
	if (project !== undefined) checkNoAgent({ agent, models });
	else if (agent === undefined && given.models !== undefined)
		throw new UsageError("The option --models applies to a served agent. Add --agent.");
	return {
		agent: agent === undefined ? undefined : resolve(base, agent),
		models: models === undefined ? undefined : resolve(base, models),
		project: project === undefined ? undefined : resolve(base, project),
	};
}

/** Returns the folder of the project to serve or work on. @throws UsageError for a file that exports an agent. */
export function givenProject(
	name: "serve" | "worker",
	folder: string | undefined,
	{ project }: Given,
): string | undefined {
	if (/\.[cm]?[jt]s$/.test(folder ?? ""))
		throw new UsageError(`Pass a file with an agent as: holdfast ${name} --agent ${folder}.`);
	return projectFolder(name, folder, { project });
}

/** @throws UsageError if an agent or its models are combined with a project. */
export function checkNoAgent({ agent, models }: Given): void {
	if (agent !== undefined) throw new UsageError("Give a project or --agent, not both.");
	if (models !== undefined)
		throw new UsageError("The option --models does not apply to projects, which define their own models.");
}
