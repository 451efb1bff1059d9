// The public types of a run.

/** How a run of code ended. */
export type CodeExecutionStatus =
	/** The module was evaluated and its export resolved. */
	| "success"
	/** An error was not caught, or the run could never have ended. */
	| "error"
	/** The memory limit was exceeded, by the heap or by what the host holds for the guest. */
	| "memory"
	/** `terminate` was called, or a time limit was exceeded; the message names it. */
	| "terminated"
	/** The modules could not be parsed or linked, or have no such export. */
	| "link_error";

/** A call of the guest's console. */
export interface CodeExecutionLog {
	/** The method that was called. */
	readonly level: "log" | "info" | "warn" | "error" | "debug";
	/** Copies of its arguments; functions and symbols are described in words. */
	readonly args: unknown[];
	/** Milliseconds since 1970. */
	readonly timestamp: number;
}

/** The error of a run. It contains nothing of the host. */
export interface CodeExecutionError {
	/** Name of the error, such as `TypeError`. */
	readonly name: string;
	/** The message of the error. */
	readonly message: string;
	/** Frames of guest code, one per line. */
	readonly stack?: string;
	/** The specifier that could not be resolved. */
	readonly specifier?: string;
	/** The source that `line` and `column` refer to. */
	readonly filename?: string;
	/** Line of the given source, from 1. */
	readonly line?: number;
	/** Column of that line, from 1. */
	readonly column?: number;
}

/** The outcome of a run. */
export interface CodeExecutionResult {
	/** The status of the run. */
	readonly status: CodeExecutionStatus;
	/** The value that the chosen export resolved to; only with status `success`. */
	readonly result?: unknown;
	/** The values that the guest passed to `report`, in order. */
	readonly reports: unknown[];
	/** Console calls in order, unless the caller supplied a console. */
	readonly logs: CodeExecutionLog[];
	/** The error; present with every status except `success`. */
	readonly error?: CodeExecutionError;
	/** Milliseconds from the call to the end. */
	readonly durationMs: number;
	/** The size to which the guest's heap grew in bytes, if it could be measured. */
	readonly memoryUsedBytes?: number;
}

/** A run in flight. Awaiting it returns its result, and never throws because of the guest. */
export interface CodeExecution extends PromiseLike<CodeExecutionResult> {
	/** Stops the run; later calls do nothing. The reason is the message of the result's error. */
	terminate(reason?: string): void;
	/** True until the run has ended. */
	readonly running: boolean;
	/** Copies of the values reported so far. */
	readonly reports: readonly unknown[];
}

/** The options and permissions of a run. */
export interface CodeExecutionOptions {
	/** The export to run, `default` by default, and its arguments. */
	readonly execute?: { readonly fn?: string; readonly args?: readonly unknown[] };
	/** Modules of the host by bare specifier, with their exports by name. Functions become functions of the guest. */
	readonly imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
	/** Sources that can be imported, by path from the root of the graph: `./lib/math.js`. */
	readonly modules?: Readonly<Record<string, string>>;
	/** Identifiers available in all modules. They are not properties of `globalThis`. */
	readonly globals?: Readonly<Record<string, unknown>>;
	/** Language of all sources; `typescript` by default. Types are erased, not checked. */
	readonly language?: "javascript" | "typescript";
	/** Memory limit in bytes for the guest's heap, and for what the host holds for it; the sandbox's by default. */
	readonly memoryLimitBytes?: number;
	/** Time limit of the run in milliseconds, including waiting for the host; the sandbox's by default. */
	readonly timeLimitMs?: number;
	/** The name of the source in stacks and in the module graph; `<runCode>` by default. */
	readonly filename?: string;
	/** Receives the values that the guest passes to `report`, which exists only with this option. */
	readonly report?: (value: unknown) => void;
	/**
	 * Makes `Math.random` and `Date` return the same values in every run with the same `seed` and `now`, as long as the
	 * code receives the same data in the same order. Default: a new seed and the system's clock.
	 */
	readonly reproducible?: ReproducibleRun;
}

/** The sources of chance and time of a run. */
export interface ReproducibleRun {
	/** An integer from 0 to 2^32 - 1. */
	readonly seed: number;
	/** Milliseconds since the epoch at the start. Each time the code reads the clock, it advances by one millisecond. */
	readonly now: number;
}

/** Limits of a sandbox. */
export interface SandboxOptions {
	/**
	 * Runs that compute concurrently, each in a separate thread; by default the number of processors, at most 4. Runs
	 * that wait for the host are not counted.
	 */
	readonly workers?: number;
	/** Concurrent runs, including those that wait for the host; 64 by default. Further runs are queued. */
	readonly maxRuns?: number;
	/**
	 * Memory limit in bytes for a guest's heap, and for what the host holds for it, for runs without their own limit; 64
	 * MiB by default.
	 */
	readonly memoryLimitBytes?: number;
	/** Computing time of a guest in milliseconds; 30,000 by default. Waiting for the host is not counted. */
	readonly cpuLimitMs?: number;
	/**
	 * The file of the program that threads run, a path or a `file:` URL. By default the installed package's entry
	 * `@holdfast/sandbox/worker`. Set it when you bundle your application and deploy it without `node_modules`: build
	 * that entry into a separate file, copy `quickjs-wasi/quickjs.wasm` next to it, and pass the file here.
	 */
	readonly worker?: string | URL;
	/**
	 * Time limit of a run in milliseconds once it has a thread, including waiting for the host, for runs without their
	 * own limit; 600,000 by default. `Infinity` suits runs that wait for people; each of them occupies one of the
	 * `maxRuns`.
	 */
	readonly timeLimitMs?: number;
}

/** Runs code in separate threads. */
export interface Sandbox {
	/**
	 * Runs a module and returns a handle at once.
	 *
	 * @throws HoldfastError `invalid_code_options` for invalid options, `sandbox_closed` after `close`,
	 * `sandbox_worker_missing` if the threads' program cannot be found.
	 */
	runCode(source: string, options?: CodeExecutionOptions): CodeExecution;
	/** Starts the threads, so that the first run does not wait for one. */
	warm(): Promise<void>;
	/** Terminates all runs and ends the threads. */
	close(): Promise<void>;
}
