/** The holdfast command: from its arguments to its exit code. */
import { readFileSync } from "node:fs";
import { parseCommand } from "./arguments.ts";
import { helpText } from "./help.ts";
import { type CommandIo, processIo } from "./io.ts";
import { listSessions } from "./sessions.ts";
import { showSession } from "./show.ts";
import { exitCodes, UsageError } from "./usage-error.ts";
import { describeError, resumeSession, runTask } from "./work.ts";

/** Carries out a command line; never throws. Gives the exit code. */
export async function runCommandLine(argv: readonly string[], io: CommandIo = processIo()): Promise<number> {
	try {
		const command = parseCommand(argv, io);
		switch (command.name) {
			case "help":
				io.stdout.write(helpText(command.topic));
				return exitCodes.completed;
			case "version":
				io.stdout.write(`holdfast ${version()}\n`);
				return exitCodes.completed;
			case "run":
				return await runTask(command, io);
			case "resume":
				return await resumeSession(command, io);
			case "sessions":
				return await listSessions(command, io);
			case "show":
				return await showSession(command, io);
		}
	} catch (error) {
		io.stderr.write(`holdfast: ${describeError(error)}\n`);
		return error instanceof UsageError ? exitCodes.usage : exitCodes.failed;
	}
}

function version(): string {
	// Two folders up is the package, both from the sources and from what is published.
	const file = new URL("../../package.json", import.meta.url);
	return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
