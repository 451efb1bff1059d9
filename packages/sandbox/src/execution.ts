// A run as its caller holds it. States: waiting for a thread → running → settled; stopping, from `terminate` on, the
// guest gets nothing of the host any more. Whatever happens, it settles once.
import { randomFillSync } from "node:crypto";
import { decode } from "./decode.ts";
import { encode, encodeError } from "./encode.ts";
import type { RunOptions } from "./options.ts";
import type { LogRecord, Reply, RunEnd, RunOrder, Wire } from "./protocol.ts";
import type { CodeExecution, CodeExecutionError, CodeExecutionLog, CodeExecutionResult } from "./types.ts";

/** What a run needs of the thread it is in. */
export interface ThreadPort {
	settle(id: number, isFulfilled: boolean, wire: Wire): void;
	/** Asks the guest to stop, and ends the thread when it does not. */
	stop(): void;
}

/** Functions of the host that a guest can hold. */
const maxFunctions = 100_000;
const nothing: Wire = { text: '{"r":["u"],"n":[]}', buffers: [] };

/** One run, on the side of the host. */
export class Execution implements CodeExecution {
	readonly order: RunOrder;
	readonly #options: RunOptions;
	readonly #started = performance.now();
	readonly #functions: ((...given: unknown[]) => unknown)[] = [];
	readonly #reports: Wire[] = [];
	readonly #logs: LogRecord[] = [];
	readonly #settled = Promise.withResolvers<CodeExecutionResult>();
	readonly #abandon: (execution: Execution) => void;
	#promises = 0;
	#thread: ThreadPort | undefined;
	#stopping: { readonly reason: string | undefined } | undefined;
	#isSettled = false;

	/** `abandon` is called when the run ends before it got a thread. Throws for values that cannot enter the sandbox. */
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
			seed: [...randomFillSync(new Int32Array(4))],
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
			reportFn: this.#reportFn,
			globalNames: hasConsole ? Object.keys(globals) : [...Object.keys(globals), "console"],
			importNames: new Map([...imports].map(([specifier, names]) => [specifier, Object.keys(names)])),
		};
	}

	get running(): boolean {
		return !this.#isSettled;
	}

	get reports(): readonly unknown[] {
		return this.#reports.map(decode);
	}

	// biome-ignore lint/suspicious/noThenProperty: the document makes the handle awaitable
	then<A = CodeExecutionResult, B = never>(
		onFulfilled?: ((result: CodeExecutionResult) => A | PromiseLike<A>) | null,
		onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
	): Promise<A | B> {
		return this.#settled.promise.then(onFulfilled, onRejected);
	}

	terminate(reason?: string): void {
		if (this.#isSettled || this.#stopping !== undefined) return;
		this.#stopping = { reason };
		if (this.#thread !== undefined) {
			this.#thread.stop();
			return;
		}
		this.#abandon(this);
		this.finish({ status: "terminated", retire: false });
	}

	/** The run is in a thread from now on. */
	enter(thread: ThreadPort): void {
		this.#thread = thread;
	}

	addLogs(logs: readonly LogRecord[]): void {
		if (!this.#isSettled) this.#logs.push(...logs);
	}

	/** Calls a function of the host for the guest. */
	answer(fn: number, wire: Wire): Reply {
		if (this.#stopping !== undefined || this.#isSettled) return { kind: "x", wire: nothing, promises: 0 };
		const before = this.#promises;
		let reply: Reply;
		try {
			const call = this.#functions[fn];
			if (fn === this.#reportFn) this.#reports.push(wireOfFirst(wire));
			if (call === undefined) throw new TypeError("The sandbox has no such function");
			const value = call(...(decode(wire) as unknown[]));
			const encoded = this.#encode(value);
			reply = { kind: "v", wire: encoded, promises: this.#promises - before };
		} catch (error) {
			reply = { kind: "e", wire: encodeError(error), promises: 0 };
		}
		return this.#stopping === undefined ? reply : { kind: "x", wire: nothing, promises: 0 };
	}

	/** Settles the handle; only the first call counts. */
	finish(end: RunEnd): void {
		if (this.#isSettled) return;
		this.#isSettled = true;
		this.#thread = undefined;
		this.#functions.length = 0;
		this.#settled.resolve(this.#result(end));
	}

	/** Ends the run as its thread is gone. */
	lose(status: "memory" | "terminated" | "error", message: string): void {
		this.finish({ status, error: { name: "Error", message }, retire: true });
	}

	#result(end: RunEnd): CodeExecutionResult {
		const common = {
			reports: this.#reports.map(decode),
			logs: this.#logs.map(readLog),
			durationMs: performance.now() - this.#started,
			...(end.memoryUsedBytes !== undefined && { memoryUsedBytes: end.memoryUsedBytes }),
		};
		if (this.#stopping !== undefined) {
			const message = this.#stopping.reason ?? "The run was terminated by its caller";
			return { status: "terminated", error: { name: "Error", message }, ...common };
		}
		let failed: CodeExecutionError = end.error ?? { name: "Error", message: "The run failed" };
		if (end.status !== "success") return { status: end.status, error: failed, ...common };
		try {
			return { status: "success", result: decode(end.result ?? nothing), ...common };
		} catch {
			failed = { name: "Error", message: "The result cannot be read" };
			return { status: "error", error: failed, ...common };
		}
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

	/** A value that comes later brings data and functions, and no promises: its caller has awaited those. */
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

function readLog({ level, timestamp, wire }: LogRecord): CodeExecutionLog {
	return { level, args: decode(wire) as unknown[], timestamp };
}

/** The first of the arguments in a wire, as a wire of its own. */
function wireOfFirst(wire: Wire): Wire {
	const parsed: { r: unknown; n: unknown[][] } = JSON.parse(wire.text);
	const first = parsed.n[0]?.[1] ?? ["u"];
	return { text: JSON.stringify({ r: first, n: parsed.n }), buffers: wire.buffers };
}
