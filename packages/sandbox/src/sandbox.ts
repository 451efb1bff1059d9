// The sandbox, its limits and its threads.
import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import { Execution } from "./execution.ts";
import { readLimits, readRunOptions } from "./options.ts";
import { Pool } from "./pool.ts";
import type { CodeExecutionOptions, Sandbox, SandboxOptions } from "./types.ts";

const sandboxNames = optionNames<SandboxOptions>({
	workers: true,
	maxRuns: true,
	memoryLimitBytes: true,
	cpuLimitMs: true,
	worker: true,
	timeLimitMs: true,
});

/**
 * Creates a sandbox. Threads start with the first run, or with `warm`, and do not keep the process alive while they are
 * idle.
 *
 * @throws HoldfastError `invalid_code_options` for a limit that is not a positive number.
 * @example
 * const sandbox = createSandbox();
 * const { status, result } = await sandbox.runCode("export default (a: number) => a * 2", { execute: { args: [21] } });
 * await sandbox.close();
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
	return ownSandbox(options);
}

/** Like `createSandbox`, with executions of this package as runs. */
export function ownSandbox(options: SandboxOptions): OwnSandbox {
	checkOptions(options, sandboxNames, { of: "createSandbox()" });
	const limits = readLimits(options);
	const pool = new Pool(limits);
	let runs = 0;
	let isClosed = false;
	const sandbox: OwnSandbox = {
		runCode(source: string, given: CodeExecutionOptions = {}) {
			if (isClosed)
				throw new HoldfastError("sandbox_closed", "The sandbox is closed: create another one", {
					retryable: false,
				});
			const read = readRunOptions(source, given, limits);
			const execution = new Execution(++runs, source, read, limits.cpuLimitMs, (run) => pool.abandon(run));
			pool.submit(execution);
			return execution;
		},
		warm: () => pool.warm(),
		close() {
			isClosed = true;
			return pool.close();
		},
	};
	ours.add(sandbox);
	return sandbox;
}

/** A sandbox whose runs are executions of this package. */
export interface OwnSandbox extends Sandbox {
	runCode(source: string, options?: CodeExecutionOptions): Execution;
}

const ours = new WeakSet<object>();

/** Whether a sandbox was created by `createSandbox`. */
export function isOwnSandbox(sandbox: unknown): sandbox is OwnSandbox {
	return typeof sandbox === "object" && sandbox !== null && ours.has(sandbox);
}
