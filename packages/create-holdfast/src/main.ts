// Starts create-holdfast.
import { create } from "./create.ts";

process.exitCode = await create(process.argv.slice(2), {
	folder: process.cwd(),
	isTerminal: process.stdin.isTTY === true && process.stdout.isTTY === true,
	userAgent: process.env.npm_config_user_agent ?? "",
	out: (text) => void process.stdout.write(text),
	err: (text) => void process.stderr.write(text),
	async interruptible(work) {
		const interrupt = new AbortController();
		const abort = (): void => interrupt.abort();
		process.on("SIGINT", abort).on("SIGTERM", abort);
		try {
			return await work(interrupt.signal);
		} finally {
			process.off("SIGINT", abort).off("SIGTERM", abort);
		}
	},
	// The terminal interface is loaded only when it is needed.
	ask: async (known) => (await import("./ask.ts")).ask(known, process.cwd()),
});
