// A script that a model wrote, in execution. Its tool calls are collected, and it receives their outcomes one at a time, in the
// order in which they are recorded. It therefore follows the same path each time it runs (keeps I6).
//
// States: running → parked, when only outcomes can continue it → running …; ended, when it returned, threw or was stopped.
import type { Execution } from "../execution.ts";
import type { CodeExecutionResult } from "../types.ts";
import type { ScriptCall, ScriptRecord } from "./script-log.ts";

/** How far a script has come. */
export type ScriptProgress =
	/** The script waits. These of its calls were not requested yet; none if it waits for requested ones. */
	| { readonly kind: "calls"; readonly calls: readonly ScriptCall[] }
	| {
			readonly kind: "ended";
			readonly result: CodeExecutionResult;
			/** Names of the tools whose calls were never requested, because the script did not wait for them. */
			readonly dropped: readonly string[];
			/** Names of the tools whose calls were requested and have no outcome. */
			readonly cut: readonly string[];
	  }
	/** The record does not belong to this script. */
	| { readonly kind: "diverged"; readonly expected: string; readonly came: string };

interface OpenCall extends ScriptCall {
	resolve(value: unknown): void;
	reject(error: Error): void;
}

/** Starts the code. `call` is called for each tool call that the code makes. */
export type StartScript = (
	call: (toolName: string, given: readonly unknown[]) => Promise<unknown>,
) => Execution;

export class Script {
	readonly #execution: Execution;
	readonly #maxCalls: number;
	/** All calls that the script has made, in order. A settled one is dropped. */
	readonly #calls: (OpenCall | undefined)[] = [];
	/** The positions of requested calls without an outcome, by id. */
	readonly #requested = new Map<string, number>();
	/** The number of calls that were requested. */
	#next = 0;
	#isParked = false;
	#result: CodeExecutionResult | undefined;
	#moved: (() => void) | undefined;

	constructor(start: StartScript, maxCalls: number) {
		this.#maxCalls = maxCalls;
		this.#execution = start((toolName, given) => this.#called(toolName, given));
		this.#execution.onParked = () => {
			this.#isParked = true;
			this.#moved?.();
		};
		void this.#execution.then((result) => {
			this.#result = result;
			this.#moved?.();
		});
	}

	stop(): void {
		this.#execution.terminate("The script was stopped");
	}

	/**
	 * Gives the script the next records, and runs it until it waits or ends. Returns calls that it waits for, as long as at
	 * most `most` are open. One call at a time.
	 */
	async advance(records: readonly ScriptRecord[], most: number): Promise<ScriptProgress> {
		for (const record of records) {
			if (record.kind === "requested") {
				await this.#settled();
				const divergence = this.#request(record.calls);
				if (divergence !== undefined) return divergence;
			} else {
				// The script ended before such a call did.
				if (record.isCut) await this.#settled();
				this.#deliver(record);
			}
		}
		// The sandbox passes the outcomes one by one, and runs the script in between.
		await this.#settled();
		if (this.#result === undefined)
			return { kind: "calls", calls: this.#open(this.#next + most - this.#requested.size) };
		const dropped = this.#open(this.#calls.length).map(({ toolName }) => toolName);
		const cut = Array.from(this.#requested.values(), (at) => (this.#calls[at] as OpenCall).toolName);
		return { kind: "ended", result: this.#result, dropped, cut };
	}

	/** Returns the calls up to a position that were not requested. */
	#open(end: number): readonly ScriptCall[] {
		const open = this.#calls.slice(this.#next, Math.max(this.#next, end)) as readonly OpenCall[];
		return open.map(({ toolName, arguments: input }) => ({ toolName, arguments: input }));
	}

	/** Waits until the script is parked or has ended. */
	#settled(): Promise<void> | undefined {
		if (this.#isParked || this.#result !== undefined) return undefined;
		return new Promise((resolve) => {
			this.#moved = () => {
				this.#moved = undefined;
				resolve();
			};
		});
	}

	#called(toolName: string, given: readonly unknown[]): Promise<unknown> {
		if (this.#calls.length >= this.#maxCalls)
			throw new RangeError(`A script may call tools at most ${this.#maxCalls} times`);
		const input = inputOf(toolName, given);
		return new Promise((resolve, reject) => {
			this.#calls.push({ toolName, arguments: input, resolve, reject });
		});
	}

	#request(calls: readonly { readonly id: string; readonly toolName: string }[]): ScriptProgress | undefined {
		for (const { id, toolName } of calls) {
			const own = this.#calls[this.#next];
			// The arguments are not compared: policy may have replaced parts of them in the record.
			if (own?.toolName !== toolName)
				return { kind: "diverged", expected: toolName, came: own?.toolName ?? "no call" };
			this.#requested.set(id, this.#next++);
		}
		return undefined;
	}

	#deliver({ id, isError, result }: Extract<ScriptRecord, { readonly kind: "settled" }>): void {
		const at = this.#requested.get(id);
		const call = at === undefined ? undefined : this.#calls[at];
		if (at === undefined || call === undefined || this.#result !== undefined) return;
		this.#requested.delete(id);
		this.#calls[at] = undefined;
		this.#isParked = false;
		if (isError) call.reject(new Error(textOf(result)));
		else call.resolve(result);
	}
}

/** Returns the arguments of a call as the tool receives them. Throws an error that the script can catch. */
function inputOf(toolName: string, [input = {}, ...more]: readonly unknown[]): Record<string, unknown> {
	if (more.length > 0 || typeof input !== "object" || input === null || Array.isArray(input))
		throw new TypeError(`tools.${toolName}() takes one object with the tool's arguments`);
	try {
		return JSON.parse(JSON.stringify(input));
	} catch {
		throw new TypeError(`The arguments of tools.${toolName}() cannot be written as JSON`);
	}
}

function textOf(result: unknown): string {
	return typeof result === "string" ? result : (JSON.stringify(result) ?? "The tool failed");
}
