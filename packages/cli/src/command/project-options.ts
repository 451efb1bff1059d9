/** Parses the commands for projects of files. */
import { resolve } from "node:path";
import { UsageError } from "../work/index.ts";
import { type GivenServeOptions, readServeOptions } from "./serve-options.ts";

/** The options as given. */
export type ProjectValues = Partial<Record<"dir" | "project" | "name" | "out" | "release", string>> &
	Partial<Record<"effect" | "endpoint", string[]>>;

type Environment = Readonly<Record<string, string | undefined>>;

/** A command for a project of files. */
export type ProjectCommand =
	| { readonly name: "init" | "check"; readonly directory: string }
	| { readonly name: "dev"; readonly directory: string; readonly port: number; readonly host: string }
	| { readonly name: "unpack"; readonly directory: string; readonly package: string }
	| {
			readonly name: "pack";
			readonly directory: string;
			readonly agents: readonly string[];
			readonly out: string;
			readonly packageName: string | undefined;
			readonly release: string | undefined;
			readonly effects: readonly string[];
			readonly threadEndpoints: readonly string[];
	  };

/** Names of the commands. */
export type ProjectCommandName = ProjectCommand["name"];

/**
 * Returns the project's folder, given as an argument, with --project, or with --dir if the arguments are names.
 * @throws UsageError if two are given.
 */
export function projectFolder(
	name: string,
	given: string | undefined,
	{ project, dir }: { readonly project?: string | undefined; readonly dir?: string | undefined },
): string | undefined {
	const [folder, other] = [given, project, dir].filter((each) => each !== undefined);
	if (other !== undefined)
		throw new UsageError(
			`"holdfast ${name}" takes one project: "${folder}" or "${other}". Leave one of them out.`,
		);
	return folder;
}

/** @throws UsageError for too many or too few words. */
export function readProjectCommand(
	name: ProjectCommandName,
	rest: readonly string[],
	values: ProjectValues & GivenServeOptions,
	{ base, environment }: { readonly base: string; readonly environment: Environment },
): ProjectCommand {
	const [first, second] = rest;
	if (name === "pack") {
		if (first === undefined)
			throw new UsageError('"holdfast pack" takes the agents to pack: holdfast pack AGENT --name PACKAGE.');
		return {
			name,
			directory: resolve(base, projectFolder(name, undefined, values) ?? "."),
			agents: rest,
			out: resolve(base, values.out ?? `packed/${values.name ?? first}`),
			packageName: values.name,
			release: values.release,
			effects: values.effect ?? [],
			threadEndpoints: values.endpoint ?? [],
		};
	}
	if (second !== undefined)
		throw new UsageError(`"holdfast ${name}" takes one argument; remove "${second}".`);
	if (name === "unpack") {
		if (first === undefined)
			throw new UsageError('"holdfast unpack" takes the name of a package: holdfast unpack PACKAGE.');
		return { name, directory: resolve(base, projectFolder(name, undefined, values) ?? "."), package: first };
	}
	if (name === "dev") {
		const { port, host } = readServeOptions(values, environment);
		return { name, directory: resolve(base, projectFolder(name, first, values) ?? "."), port, host };
	}
	const folder = projectFolder(name, first, values);
	if (name === "init" && folder === undefined)
		throw new UsageError('"holdfast init" takes the folder of the new project: holdfast init DIR.');
	return { name, directory: resolve(base, folder ?? ".") };
}
