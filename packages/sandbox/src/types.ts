// The public types of a run.

/** How a run of code ended. */
export type CodeExecutionStatus =
	/** The module was evaluated and its export resolved. */
	| "success"
	/** Something was thrown and not caught, or the run could never have ended. */
	| "error"
	/** The memory limit was exceeded, by the heap or by what the host holds for the guest. */
	| "memory"
	/** `terminate` was called, or a limit of time was exceeded; the message names it. */
	| "terminated"
	/** The modules could not be parsed or linked, or have no such export. */
	| "link_error";

/** A call of the guest's console. */
export interface CodeExecutionLog {
	/** The method that was called. */
	readonly level: "log" | "info" | "warn" | "error" | "debug";
	/** Copies of its arguments; functions and symbols are described in words. */
	readonly args: unknown[];
	/** When, in milliseconds since 1970. */
	readonly timestamp: number;
}

/** The error of a run. It contains nothing of the host. */
export interface CodeExecutionError {
	/** Name of the error, `TypeError`. */
	readonly name: string;
	/** What was wrong. */
	readonly message: string;
	/** Frames of guest code, one a line. */
	readonly stack?: string;
	/** The module that did not link. */
	readonly specifier?: string;
	/** The source that `line` and `column` are of. */
	readonly filename?: string;
	/** Line of the given source, from 1. */
	readonly line?: number;
	/** Column of that line, from 1. */
	readonly column?: number;
}

/** The outcome of a run. */
export interface CodeExecutionResult {
	/** How it ended. */
	readonly status: CodeExecutionStatus;
	/** The value that the chosen export resolved to; only with status `success`. */
	readonly result?: unknown;
	/** The values that the guest passed to `report`, in order. */
	readonly reports: unknown[];
	/** Calls of the console, in order, unless the caller supplied one. */
	readonly logs: CodeExecutionLog[];
	/** The error; with every status except `success`. */
	readonly error?: CodeExecutionError;
	/** Milliseconds from the call to the end. */
	readonly durationMs: number;
	/** Bytes that the guest's heap had grown to, where it could be measured. */
	readonly memoryUsedBytes?: number;
}

/** A run in flight. Awaiting it gives its result and never throws for what the guest did. */
export interface CodeExecution extends PromiseLike<CodeExecutionResult> {
	/** Stops the run; later calls do nothing. The reason is the message of the result's error. */
	terminate(reason?: string): void;
	/** True until the run has ended. */
	readonly running: boolean;
	/** Copies of what was reported so far. */
	readonly reports: readonly unknown[];
}

/** The options and permissions of a run. */
export interface CodeExecutionOptions {
	/** The export to run, `default` by default, and its arguments. */
	readonly execute?: { readonly fn?: string; readonly args?: readonly unknown[] };
	/** Modules of the host by bare specifier: their exports by name. Functions become functions of the guest. */
	readonly imports?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
	/** Sources that can be imported, by path from the root of the graph: `./lib/math.js`. */
	readonly modules?: Readonly<Record<string, string>>;
	/** Identifiers that all modules can use. They are no properties of `globalThis`. */
	readonly globals?: Readonly<Record<string, unknown>>;
	/** Language of all sources; `typescript` by default, whose types are erased and not checked. */
	readonly language?: "javascript" | "typescript";
	/** Bytes that the guest's heap may have, and the host hold for it; that of the sandbox by default. */
	readonly memoryLimitBytes?: number;
	/** Milliseconds that the run may take, waiting for the host included; that of the sandbox by default. */
	readonly timeLimitMs?: number;
	/** The name of the source in stacks and in the module graph; `<runCode>` by default. */
	readonly filename?: string;
	/** Receives what the guest gives to `report`, which exists only with this option. */
	readonly report?: (value: unknown) => void;
}

/** Limits of a sandbox. */
export interface SandboxOptions {
	/**
	 * Runs that compute at once, each in a thread of its own; by default as many as there are processors, 4 at most.
	 * Runs that wait for the host are not counted.
	 */
	readonly workers?: number;
	/** Runs that exist at once, those that wait for the host included; 64 by default. More of them wait in line. */
	readonly maxRuns?: number;
	/** Bytes of a guest's heap, and of what the host holds for it, where a run sets no limit of its own; 64 MiB by default. */
	readonly memoryLimitBytes?: number;
	/** Milliseconds that a guest may compute; 30,000 by default. Waiting for the host is not counted. */
	readonly cpuLimitMs?: number;
	/**
	 * The file of the program that threads run, a path or a `file:` URL. By default the installed package's entry
	 * `@holdfast/sandbox/worker`. Set it when you bundle your application and deploy it without `node_modules`: build that
	 * entry into a file of its own, copy `quickjs-wasi/quickjs.wasm` next to it, and name the file here.
	 */
	readonly worker?: string | URL;
	/**
	 * Milliseconds that a run may take once it is in a thread, waiting for the host included, where it sets no limit of its
	 * own; 600,000 by default. `Infinity` suits runs that wait for people; each of them keeps one of the `maxRuns`.
	 */
	readonly timeLimitMs?: number;
}

/** Runs code in threads of its own. */
export interface Sandbox {
	/**
	 * Runs a module and gives a handle at once.
	 *
	 * @throws HoldfastError `invalid_code_options` for invalid options, `sandbox_closed` after `close`, `sandbox_worker_missing` where
	 * the program of the threads cannot be found.
	 */
	runCode(source: string, options?: CodeExecutionOptions): CodeExecution;
	/** Starts the threads, so that the first run need not wait for one. */
	warm(): Promise<void>;
	/** Terminates all runs and ends the threads. */
	close(): Promise<void>;
}
