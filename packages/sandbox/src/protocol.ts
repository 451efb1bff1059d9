// What the host and a worker say to each other. Values of the guest travel as text that the host checks as it reads it.
import type { CodeExecutionError, CodeExecutionLog, CodeExecutionStatus } from "./types.ts";

/** A marshalled value: text, and the array buffers it refers to. */
export interface Wire {
	readonly text: string;
	readonly buffers: readonly ArrayBuffer[];
}

/** Places in the memory that both sides share: the run that is to stop, and how many calls were answered. */
export const control = { stop: 0, replies: 1, words: 2 } as const;

/** A run as a worker gets it. */
export interface RunOrder {
	readonly kind: "run";
	readonly run: number;
	readonly source: string;
	readonly language: "javascript" | "typescript";
	readonly filename: string;
	readonly modules: ReadonlyMap<string, string>;
	readonly memoryLimitBytes: number;
	readonly cpuLimitMs: number;
	readonly fn: string;
	/** Globals, imports and arguments together. */
	readonly setup: Wire;
	readonly globalNames: readonly string[];
	readonly importNames: ReadonlyMap<string, readonly string[]>;
	/** Promises in `setup`. */
	readonly setupPromises: number;
	/** Number of the function that `report` calls, whose values count against the memory limit. */
	readonly reportFn: number | undefined;
}

/** An answer to a call: a value, an error that is thrown, or nothing as the run is stopped. */
export interface Reply {
	readonly kind: "v" | "e" | "x";
	readonly wire: Wire;
	/** Promises in the value. */
	readonly promises: number;
}

/** What a worker receives. */
export type ToWorker =
	| RunOrder
	| {
			readonly kind: "settle";
			readonly run: number;
			readonly id: number;
			readonly ok: boolean;
			readonly wire: Wire;
	  }
	| { readonly kind: "stop"; readonly run: number };

/** A log as the guest made it. */
export interface LogRecord {
	readonly level: CodeExecutionLog["level"];
	readonly timestamp: number;
	readonly wire: Wire;
}

/** How a run ended, as the worker saw it. */
export interface RunEnd {
	readonly status: CodeExecutionStatus;
	readonly result?: Wire;
	readonly error?: CodeExecutionError;
	readonly memoryUsedBytes?: number;
	/** Whether the worker must not be used again. */
	readonly retire: boolean;
}

/** What a worker sends. */
export type FromWorker =
	| { readonly kind: "ready" }
	| { readonly kind: "call"; readonly run: number; readonly fn: number; readonly wire: Wire }
	| { readonly kind: "logs"; readonly run: number; readonly logs: readonly LogRecord[] }
	| { readonly kind: "parked"; readonly run: number; readonly settled: number }
	| { readonly kind: "end"; readonly run: number; readonly end: RunEnd };
