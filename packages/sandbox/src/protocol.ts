// The messages between the host and a worker. Guest values travel as text that the host validates while reading.
import type { CodeExecutionError, CodeExecutionLog, CodeExecutionStatus } from "./types.ts";

/** A value for the guest: text, and the array buffers it refers to. */
export interface Wire {
	readonly text: string;
	readonly buffers: readonly ArrayBuffer[];
}

/** Bytes that a value for the guest takes while it waits, about. */
export function sizeOf({ text, buffers }: Wire): number {
	return buffers.reduce((sum, { byteLength }) => sum + byteLength, text.length + 64);
}

/** A value of the guest: the last piece of its text, and the array buffers it refers to. */
export interface GuestWire extends Wire {
	/** Bytes that the host needs to hold it, about. */
	readonly size: number;
}

/**
 * Places in the memory that both sides share: the run that is to stop, how many messages were answered, and how many bytes of
 * settlements the worker took; the last two count past the largest number and begin again.
 */
export const control = { stop: 0, replies: 1, taken: 2, words: 3 } as const;

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
	/** Numbers of the promises in the value. */
	readonly promises: readonly number[];
}

/** A message to a worker. */
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
	readonly wire: GuestWire;
}

/** How a run ended, as the worker saw it. */
export interface RunEnd {
	readonly status: CodeExecutionStatus;
	readonly result?: GuestWire;
	readonly error?: CodeExecutionError;
	readonly memoryUsedBytes?: number;
	/** Whether the worker must not be used again. */
	readonly retire: boolean;
}

/** A message from a worker. */
export type FromWorker =
	| { readonly kind: "ready" }
	/** Of the value in the next message. This, a call and logs are answered before the worker continues. */
	| { readonly kind: "piece"; readonly run: number; readonly text: string }
	| { readonly kind: "call"; readonly run: number; readonly fn: number; readonly wire: GuestWire }
	| { readonly kind: "logs"; readonly run: number; readonly logs: readonly LogRecord[] }
	| { readonly kind: "parked"; readonly run: number; readonly settled: number }
	| { readonly kind: "end"; readonly run: number; readonly end: RunEnd };
