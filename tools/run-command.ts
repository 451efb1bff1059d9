// Runs a program for the repository's tools and keeps what it said, so that only failures are shown.
import { spawn } from "node:child_process";

/** How a program ended and what it wrote to both of its outputs, in order of arrival. */
export interface CommandResult {
	/** Exit code; 1 when a signal ended the program or it could not be started. */
	readonly code: number;
	readonly output: string;
	/** Only its standard output. */
	readonly stdout: string;
}

/** Where and with what a program runs. */
export interface CommandOptions {
	/** Working folder. */
	readonly folder: string;
	/** Variables in addition to those of this process; `undefined` removes one. */
	readonly environment?: Readonly<Record<string, string | undefined>>;
	/** Milliseconds after which the program is killed. Default: no limit. */
	readonly timeout?: number;
	/** Ends the program when it aborts; it then counts as ended by a signal. */
	readonly signal?: AbortSignal | undefined;
}

/** Runs a program to its end; never rejects. */
export function runCommand(
	command: readonly [program: string, ...parameters: string[]],
	options: CommandOptions,
): Promise<CommandResult> {
	const [program, ...parameters] = command;
	return new Promise((resolve) => {
		const child = spawn(program, parameters, {
			cwd: options.folder,
			env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined, ...options.environment },
			stdio: ["ignore", "pipe", "pipe"],
			...(options.timeout === undefined ? {} : { timeout: options.timeout, killSignal: "SIGKILL" }),
			...(options.signal === undefined ? {} : { signal: options.signal }),
		});
		let output = "";
		let stdout = "";
		for (const stream of [child.stdout, child.stderr]) {
			stream.setEncoding("utf8").on("data", (text: string) => {
				output += text;
				if (stream === child.stdout) stdout += text;
			});
		}
		child.on("error", (error) => {
			// What was started and ended by the signal is followed by `close`.
			if (error.name === "AbortError" && child.pid !== undefined) return;
			resolve({ code: 1, output: `${output}${program}: ${error.message}\n`, stdout });
		});
		child.on("close", (code) => resolve({ code: code ?? 1, output, stdout }));
	});
}
