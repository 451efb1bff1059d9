// Starts create-holdfast.
import { create } from "./create.ts";

process.exitCode = await create(process.argv.slice(2), {
	folder: process.cwd(),
	isTerminal: process.stdin.isTTY === true && process.stdout.isTTY === true,
	userAgent: process.env.npm_config_user_agent ?? "",
	out: (text) => void process.stdout.write(text),
	err: (text) => void process.stderr.write(text),
	// The terminal interface is loaded only when it is needed.
	ask: async (known) => (await import("./ask.ts")).ask(known, process.cwd()),
});
