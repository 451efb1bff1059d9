// A run from its caller's perspective. States: waiting for a thread → running → settled; stopping, after `terminate`,
// during which the guest receives nothing from the host. It always settles exactly once. Values of the guest are read as
// they arrive, in slices of a few milliseconds, while the guest waits.

import { randomFillSync } from "node:crypto";
import { attempt, type MaybePromise, startTimer } from "@holdfast/upp";
import { decode } from "./decode.ts";
import { encode, encodeError } from "./encode.ts";
import type { RunOptions } from "./options.ts";
import type { GuestWire, LogRecord, Reply, RunEnd, RunOrder, Wire } from "./protocol.ts";
import type {
	CodeExecution,
	CodeExecutionError,
	CodeExecutionLog,
	CodeExecutionResult,
	CodeExecutionStatus,
} from "./types.ts";
import { atOnce, inTurns, WireReader } from "./wire-reader.ts";

/** The thread interface that a run requires. */
export interface ThreadPort {
	settle(id: number, isFulfilled: boolean, wire: Wire): void;
	/** Asks the guest to stop, and ends the thread if it does not. */
	stop(): void;
}

/** Why a run is being stopped, and its future status. */
interface Stopping {
	readonly status: CodeExecutionStatus;
	readonly reason: string | undefined;
}

/** Maximum number of functions of the host that a guest can hold. */
const maxFunctions = 100_000;
const nothing: Wire = { text: '{"r":["u"],"n":[]}', buffers: [] };
const stopped: Reply = { kind: "x", wire: nothing, promises: [] };
/** The reply that lets the guest continue. */
const read: Reply = { kind: "v", wire: nothing, promises: [] };

/** The host's side of a run. */
export class Execution implements CodeExecution {
	readonly order: RunOrder;
	readonly #options: RunOptions;
	readonly #started = performance.now();
	readonly #functions: ((...given: unknown[]) => unknown)[] = [];
	/** For each report, a function that creates copies of it. */
	readonly #reports: (() => Generator<void, unknown>)[] = [];
	readonly #logs: CodeExecutionLog[] = [];
	readonly #reader = new WireReader();
	readonly #settled = Promise.withResolvers<CodeExecutionResult>();
	readonly #abandon: (execution: Execution) => void;
	/** Called whenever only the host can continue the run. Set it right after the run was created. */
	onParked: (() => void) | undefined;
	#promises = 0;
	#thread: ThreadPort | undefined;
	#stopTimer: (() => void) | undefined;
	#stopping: Stopping | undefined;
	#isSettled = false;

	/** `abandon` is called if the run ends before it got a thread. Throws for values that cannot enter the sandbox. */
	constructor(
		run: number,
		source: string,
		options: RunOptions,
		cpuLimitMs: number,
		abandon: (run: Execution) => void,
	) {
		this.#options = options;
		this.#abandon = abandon;
		const { report, imports, filename, modules, language, memoryLimitBytes, fn } = options;
		const globals = { ...options.globals };
		if (report !== undefined)
			Object.defineProperty(globals, "report", { value: this.#report, enumerable: true });
		const hasConsole = Object.hasOwn(globals, "console");
		const setup = this.#encode({
			globals,
			imports: Object.fromEntries(imports),
			args: options.args,
			captureConsole: !hasConsole,
			seed: options.reproducible === undefined ? randomSeed() : seedOf(options.reproducible.seed),
		});
		this.order = {
			kind: "run",
			run,
			source,
			language,
			filename,
			modules,
			memoryLimitBytes,
			cpuLimitMs,
			fn,
			setup,
			setupPromises: this.#promises,
			clock: options.reproducible?.now,
			reportFn: this.#reportFn,
			globalNames: hasConsole ? Object.keys(globals) : [...Object.keys(globals), "console"],
			importNames: new Map([...imports].map(([specifier, names]) => [specifier, Object.keys(names)])),
		};
	}

	get running(): boolean {
		return !this.#isSettled;
	}

	get reports(): readonly unknown[] {
		return this.#reports.map((report) => atOnce(report()));
	}

	// biome-ignore lint/suspicious/noThenProperty: the document makes the handle awaitable
	then<A = CodeExecutionResult, B = never>(
		onFulfilled?: ((result: CodeExecutionResult) => A | PromiseLike<A>) | null,
		onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
	): Promise<A | B> {
		return this.#settled.promise.then(onFulfilled, onRejected);
	}

	terminate(reason?: string): void {
		this.#stop({ status: "terminated", reason });
	}

	/** Ends the run because the values waiting for the guest exceed the limit. */
	exhaust(): void {
		this.#stop({
			status: "memory",
			reason: "The answers that wait for the code are larger than the memory limit",
		});
	}

	#stop(stopping: Stopping): void {
		if (this.#isSettled || this.#stopping !== undefined) return;
		this.#stopping = stopping;
		if (this.#thread !== undefined) {
			this.#thread.stop();
			return;
		}
		this.#abandon(this);
		this.finish({ status: "terminated", retire: false });
	}

	/** Assigns a thread to the run. */
	enter(thread: ThreadPort): void {
		this.#thread = thread;
		const { timeLimitMs } = this.#options;
		const late = (): void => this.terminate(`The run took longer than ${timeLimitMs} ms`);
		this.#stopTimer ??= startTimer(timeLimitMs, late, { process: "release" });
	}

	/** Reports that the guest waits for the host, and has received everything that was sent to it. */
	park(): void {
		this.onParked?.();
	}

	/** Adds a piece of the guest's next value. */
	addPiece(text: string): Reply {
		if (this.#isEnding) return stopped;
		this.#reader.add(text);
		return read;
	}

	addLogs(logs: readonly LogRecord[]): MaybePromise<Reply> {
		if (this.#isSettled) return stopped;
		const [log, ...rest] = logs;
		if (log === undefined) return this.#isEnding ? stopped : read;
		const { level, timestamp, wire } = log;
		return attempt(
			() => inTurns(this.#valueOf(wire)),
			(args) => {
				if (!this.#isSettled) this.#logs.push({ level, args: args as unknown[], timestamp });
				return this.addLogs(rest);
			},
			() => this.addLogs(rest),
		) as MaybePromise<Reply>;
	}

	/** Calls a function of the host for the guest. */
	answer(fn: number, wire: GuestWire): MaybePromise<Reply> {
		if (this.#isEnding) return stopped;
		const isReport = fn === this.#reportFn;
		return attempt(
			() => inTurns(isReport ? this.#reported(wire) : this.#valueOf(wire)),
			(given) => (this.#isEnding ? stopped : this.#call(fn, given as unknown[])),
			(error): Reply => ({ kind: "e", wire: encodeError(error), promises: [] }),
		);
	}

	#call(fn: number, given: readonly unknown[]): Reply {
		const before = this.#promises;
		let reply: Reply;
		try {
			const call = this.#functions[fn];
			if (call === undefined) throw new TypeError("The sandbox has no such function");
			const wire = this.#encode(call(...given));
			const promises = Array.from({ length: this.#promises - before }, (_, index) => before + index);
			reply = { kind: "v", wire, promises };
		} catch (error) {
			reply = { kind: "e", wire: encodeError(error), promises: [] };
		}
		return this.#isEnding ? stopped : reply;
	}

	get #isEnding(): boolean {
		return this.#isSettled || this.#stopping !== undefined;
	}

	/** Reads the value whose last piece is in the wire. */
	*#valueOf({ text, buffers }: GuestWire): Generator<void, unknown> {
		this.#reader.add(text);
		return yield* decode(this.#reader.end(), buffers);
	}

	/** Reads the arguments of `report`, and keeps a way to copy the first. */
	*#reported({ text, buffers }: GuestWire): Generator<void, unknown> {
		this.#reader.add(text);
		const nodes = this.#reader.end();
		const given = yield* decode(nodes, buffers);
		const root = nodes.nodes[0]?.[1] ?? ["u"];
		this.#reports.push(() => decode({ ...nodes, root }, buffers));
		return given;
	}

	/** Reads the result and settles the handle; only the first call counts. */
	end(end: RunEnd): MaybePromise<void> {
		const wire = end.result;
		if (wire === undefined || this.#isEnding) return this.finish(end);
		return attempt(
			() => inTurns(this.#valueOf(wire)),
			(result) => this.finish(end, result),
			() =>
				this.finish({
					...end,
					status: "error",
					error: { name: "Error", message: "The result cannot be read" },
				}),
		);
	}

	/** Settles the handle; only the first call counts. */
	finish(end: RunEnd, result?: unknown): void {
		if (this.#isSettled) return;
		this.#isSettled = true;
		this.#stopTimer?.();
		this.#thread = undefined;
		this.#functions.length = 0;
		const durationMs = performance.now() - this.#started;
		void attempt(
			() => inTurns(allOf(this.#reports)),
			(reports) => this.#settled.resolve({ ...this.#result(end, result), reports, durationMs }),
			(error) => this.#settled.reject(error),
		);
	}

	/** Ends the run because its thread has ended. */
	lose(status: "memory" | "terminated" | "error", message: string): void {
		this.finish({ status, error: { name: "Error", message }, retire: true });
	}

	#result(end: RunEnd, result: unknown): Omit<CodeExecutionResult, "reports" | "durationMs"> {
		const common = {
			logs: [...this.#logs],
			...(end.memoryUsedBytes !== undefined && { memoryUsedBytes: end.memoryUsedBytes }),
		};
		if (this.#stopping !== undefined) {
			const { status, reason: message = "The run was terminated by its caller" } = this.#stopping;
			return { status, error: { name: "Error", message }, ...common };
		}
		const error: CodeExecutionError = end.error ?? { name: "Error", message: "The run failed" };
		return end.status === "success"
			? { status: "success", result, ...common }
			: { status: end.status, error, ...common };
	}

	#reportFn: number | undefined;
	readonly #report = (value: unknown): void => {
		this.#options.report?.(value);
	};

	#encode(value: unknown): Wire {
		return encode(
			value,
			{
				addFunction: (call, original) => {
					if (this.#functions.length >= maxFunctions)
						throw new RangeError(`A run has at most ${maxFunctions} functions`);
					const id = this.#functions.push(call) - 1;
					if (original === this.#report) this.#reportFn = id;
					return id;
				},
				addPromise: (promise) => {
					const id = this.#promises++;
					promise.then(
						(settled) => this.#settle(id, () => ({ isFulfilled: true, wire: this.#encodeSettled(settled) })),
						(reason: unknown) => this.#settle(id, () => ({ isFulfilled: false, wire: encodeError(reason) })),
					);
					return id;
				},
			},
			this.#options.memoryLimitBytes,
		);
	}

	/** A settled value may contain data and functions, but no promises. */
	#encodeSettled(value: unknown): Wire {
		const before = this.#promises;
		const wire = this.#encode(value);
		if (this.#promises !== before)
			throw new TypeError("A promise inside the value of a promise cannot enter the sandbox");
		return wire;
	}

	#settle(id: number, read: () => { readonly isFulfilled: boolean; readonly wire: Wire }): void {
		if (this.#stopping !== undefined || this.#isSettled) return;
		let outcome: { readonly isFulfilled: boolean; readonly wire: Wire };
		try {
			outcome = read();
		} catch (error) {
			outcome = { isFulfilled: false, wire: encodeError(error) };
		}
		this.#thread?.settle(id, outcome.isFulfilled, outcome.wire);
	}
}

function randomSeed(): readonly number[] {
	return [...randomFillSync(new Int32Array(4))];
}

/** Spreads a number over the four that the guest's generator needs. */
function seedOf(seed: number): readonly number[] {
	let state = seed;
	return Array.from({ length: 4 }, () => {
		state = (state + 0x9e3779b9) | 0;
		let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
		mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
		return mixed ^ (mixed >>> 15);
	});
}

function* allOf(values: readonly (() => Generator<void, unknown>)[]): Generator<void, unknown[]> {
	const made: unknown[] = [];
	for (const value of values) {
		made.push(yield* value());
		yield;
	}
	return made;
}
