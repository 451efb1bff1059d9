/** The holdfast command: from its arguments to its exit code. */

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CommandIo, printable, processIo } from "../terminal/index.ts";
import { describeError, exitCodes, UsageError } from "../work/index.ts";
import { parseCommand } from "./arguments.ts";
import { forkSession } from "./fork.ts";
import { helpText } from "./help.ts";
import { laidOut } from "./help-layout.ts";
import { listSessions } from "./sessions.ts";
import { showSession } from "./show.ts";
import { showContext } from "./show-context.ts";
import { resumeSession, runTask } from "./work.ts";
import { runWorker } from "./worker.ts";

/** Runs a command line; returns the exit code and never throws. */
export async function runCommandLine(argv: readonly string[], io: CommandIo = processIo()): Promise<number> {
	try {
		const command = parseCommand(argv, io);
		switch (command.name) {
			case "help":
				io.stdout.write(
					io.stdout.isTerminal
						? laidOut(helpText(command.topic), io.stdout.columns)
						: helpText(command.topic),
				);
				return exitCodes.completed;
			case "version":
				io.stdout.write(`holdfast ${version()}\n`);
				return exitCodes.completed;
			case "run":
				return await runTask(command, io);
			case "chat": {
				// The drawing code is loaded only when it is needed.
				const { chat } = await import("../chat/index.ts");
				return await chat(command, io);
			}
			case "resume":
			case "release":
				return await resumeSession(command, io);
			case "fork":
				return await forkSession(command, io);
			case "worker":
				return await runWorker(command, io);
			case "db": {
				// Loads the Postgres driver and its dispatcher.
				const { keepDatabase } = await import("./keep-database.ts");
				return await keepDatabase(command, io);
			}
			case "serve": {
				// The server is loaded only when it is needed, so that other commands start faster.
				const { project } = command;
				if (project !== undefined) {
					const { serveProject } = await import("./serve-project.ts");
					return await serveProject({ ...command, project }, io);
				}
				const { serveAgent } = await import("./serve.ts");
				return await serveAgent(command, io);
			}
			case "acp": {
				const { serveEditor } = await import("../acp/index.ts");
				return await serveEditor(command, io, version());
			}
			case "eval": {
				const { evaluateFile } = await import("./evaluate-file.ts");
				return await evaluateFile(command, io);
			}
			case "init":
			case "check":
			case "dev":
			case "pack":
			case "unpack": {
				const { runProjectCommand } = await import("./run-project-command.ts");
				return await runProjectCommand(command, io);
			}
			case "sessions":
				return await listSessions(command, io);
			case "show":
				return await showSession(command, io);
			case "context":
				return await showContext(command, io);
		}
	} catch (error) {
		const message = describeError(error);
		const exitCode = error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
		io.stderr.write(`holdfast: ${printable(message)}\n`);
		// Programs read the last line to see how the command ended, even if it never started.
		if (argv.includes("--json"))
			io.stdout.write(
				`${JSON.stringify({ type: "end", outcome: "failed", exitCode, error: { message } })}\n`,
			);
		return exitCode;
	}
}

/** The version of this package, whether it runs from sources or as a bundle. */
function version(): string {
	let folder = import.meta.dirname;
	while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
	return (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string }).version;
}
