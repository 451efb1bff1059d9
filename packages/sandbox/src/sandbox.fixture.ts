// One sandbox for the tests of a file, closed at its end.
import { afterAll, expect } from "vitest";
import { createSandbox } from "./sandbox.ts";
import type { CodeExecutionOptions, CodeExecutionResult, Sandbox, SandboxOptions } from "./types.ts";

/** Runs code for tests. */
export interface Bench {
	readonly sandbox: Sandbox;
	run(source: string, options?: CodeExecutionOptions): Promise<CodeExecutionResult>;
	/** Result of a run that must succeed. */
	value(source: string, options?: CodeExecutionOptions): Promise<unknown>;
}

/** Creates the sandbox of a test file. */
export function bench(options: SandboxOptions = { workers: 1 }): Bench {
	const sandbox = createSandbox(options);
	afterAll(() => sandbox.close());
	const run = async (source: string, given?: CodeExecutionOptions): Promise<CodeExecutionResult> =>
		await sandbox.runCode(source, given);
	return {
		sandbox,
		run,
		async value(source, given) {
			const outcome = await run(source, given);
			expect(outcome.error).toBeUndefined();
			expect(outcome.status).toBe("success");
			return outcome.result;
		},
	};
}
