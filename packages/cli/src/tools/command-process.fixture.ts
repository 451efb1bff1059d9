// A process that runs one shell command, given as its argument, for a test that kills it.
import { runCommand } from "./run-command.ts";

const [command = ""] = process.argv.slice(2);
await runCommand(command, {
	dir: process.cwd(),
	timeoutMs: 600_000,
	signal: undefined,
	environment: process.env,
});
