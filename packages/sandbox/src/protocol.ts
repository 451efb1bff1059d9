// The messages between the host and a worker. Guest values travel as text that the host validates while reading.
import type { CodeExecutionError, CodeExecutionLog, CodeExecutionStatus } from "./types.ts";

/** A value for the guest: text, and the array buffers it refers to. */
export interface Wire {
	readonly text: string;
	readonly buffers: readonly ArrayBuffer[];
}

/** Returns the approximate size of a pending value for the guest in bytes. */
export function sizeOf({ text, buffers }: Wire): number {
	return buffers.reduce((sum, { byteLength }) => sum + byteLength, text.length + 64);
}

/** A value of the guest: the last piece of its text, and the array buffers it refers to. */
export interface GuestWire extends Wire {
	/** Approximate bytes that the host requires to hold it. */
	readonly size: number;
}

/**
 * Indexes in the shared memory: the run to stop, the number of answered messages, and the bytes of settlements that the
 * worker took; the last two wrap around.
 */
export const control = { stop: 0, replies: 1, taken: 2, words: 3 } as const;

/** A run as sent to a worker. */
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
	/** The guest's clock at the start, in milliseconds since the epoch; undefined for the system's clock. */
	readonly clock: number | undefined;
	/** Number of the function that `report` calls, whose values count against the memory limit. */
	readonly reportFn: number | undefined;
}

/** An answer to a call: a value, an error to throw, or nothing if the run is stopped. */
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

/** A log as the guest wrote it. */
export interface LogRecord {
	readonly level: CodeExecutionLog["level"];
	readonly timestamp: number;
	readonly wire: GuestWire;
}

/** How a run ended, from the worker's perspective. */
export interface RunEnd {
	readonly status: CodeExecutionStatus;
	readonly result?: GuestWire;
	readonly error?: CodeExecutionError;
	readonly memoryUsedBytes?: number;
	/** Whether the worker must be replaced. */
	readonly retire: boolean;
}

/** A message from a worker. */
export type FromWorker =
	| { readonly kind: "ready" }
	/** A piece of the next message's value. The worker waits for an answer to this, to a call and to logs. */
	| { readonly kind: "piece"; readonly run: number; readonly text: string }
	| { readonly kind: "call"; readonly run: number; readonly fn: number; readonly wire: GuestWire }
	| { readonly kind: "logs"; readonly run: number; readonly logs: readonly LogRecord[] }
	| { readonly kind: "parked"; readonly run: number; readonly settled: number }
	| { readonly kind: "end"; readonly run: number; readonly end: RunEnd };
