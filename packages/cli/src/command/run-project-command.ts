/** Runs a command for a project of files. Its dependencies are loaded only when they are needed. */
import type { CommandIo } from "../terminal/index.ts";
import type { Command } from "./arguments.ts";
import { checkProject } from "./check-project.ts";
import { developProject } from "./develop-project.ts";
import { initProject } from "./init-project.ts";
import { projectDatabase } from "./open-project.ts";
import { packProject, unpackProject } from "./pack-project.ts";
import type { ProjectCommandName } from "./project-options.ts";

/** Runs the command; returns the exit code. */
export async function runProjectCommand(
	command: Extract<Command, { readonly name: ProjectCommandName }>,
	io: CommandIo,
): Promise<number> {
	switch (command.name) {
		case "init":
			return await initProject(command, io);
		case "check":
			return await checkProject(command, io);
		case "dev":
			return await developProject({ ...command, db: projectDatabase(command, command.directory) }, io);
		case "unpack":
			return await unpackProject(command, io);
		case "pack": {
			const { name: _, json, db: __, dbGiven: ___, packageName, release, ...options } = command;
			return await packProject(
				{
					json,
					options: {
						...options,
						...(packageName === undefined ? {} : { name: packageName }),
						...(release === undefined ? {} : { version: release }),
					},
				},
				io,
			);
		}
	}
}
