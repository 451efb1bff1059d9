// The engine of one worker. Every run finds it exactly as the setup of the guest's side left it: the engine's memory is
// overwritten with a copy made then, which takes a tenth of the time of creating an engine. An engine that grew, or in
// which something went wrong, is replaced, so that the memory of a run is released.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type JSValueHandle, QuickJS, type QuickJSOptions, type Snapshot } from "quickjs-wasi";
import { guestFile, guestProgram } from "./guest.ts";

/** Functions of the guest's side that a worker calls. */
const guestFunctions = ["start", "begin", "select", "encode", "settle", "describe"] as const;
/** One of these functions. */
export type GuestFunction = (typeof guestFunctions)[number];

/** The callbacks of a running engine. */
export interface MachineHost {
	/** Answers a call of a host function: kind and value. */
	call(fn: number, text: string): string;
	log(level: string, text: string): void;
	putBuffer(bytes: ArrayBuffer): number;
	takeBuffer(index: number): ArrayBuffer;
	/** Whether to stop now; asked every few thousand instructions. */
	interrupt(): boolean;
	resolve(from: string, specifier: string): string;
	load(name: string): string;
}

/** Bytes of the guest's stack. The thread's own stack is larger, so that the engine detects an overflow first. */
const stackBytes = 256 * 1024;
/** Growth in bytes up to which an engine is reused. */
const keptGrowth = 8 * 1024 * 1024;
/** The language without host additions: no `performance`, `atob`, `DOMException`. */
const intrinsics = 0x3ff;

/** Returns the engine's file: in its package, or next to a bundled worker. */
function engineFile(): string {
	const own: string | undefined = import.meta.url;
	const base = own === undefined ? (process.argv[1] as string) : fileURLToPath(own);
	const copied = join(dirname(base), "quickjs.wasm");
	const { createRequire } = process.getBuiltinModule("node:module");
	return existsSync(copied) ? copied : createRequire(base).resolve("quickjs-wasi/quickjs.wasm");
}

/** An engine, and the functions of its guest side. */
export class Machine {
	readonly #module: WebAssembly.Module;
	readonly #host: MachineHost;
	#vm!: QuickJS;
	#snapshot!: Snapshot;
	#tokens!: readonly number[];
	#functions!: Readonly<Record<GuestFunction, JSValueHandle>>;
	/** Whether the engine must be replaced before the next run. */
	isSpent = false;
	/** Milliseconds since the epoch on the clock of a reproducible run; undefined: the system's clock. */
	#clock: number | undefined;

	private constructor(module: WebAssembly.Module, host: MachineHost) {
		this.#module = module;
		this.#host = host;
	}

	static async create(host: MachineHost): Promise<Machine> {
		const machine = new Machine(await WebAssembly.compile(readFileSync(engineFile())), host);
		await machine.#prepare();
		return machine;
	}

	get vm(): QuickJS {
		return this.#vm;
	}

	/** Bytes by which the engine's memory has grown since it was created. */
	get grownBytes(): number {
		return this.#vm._getMemory().buffer.byteLength - this.#snapshot.memory.byteLength;
	}

	/**
	 * Resets the engine to its initial state, with a limit for the guest's heap in bytes. `clock` is the time of a
	 * reproducible run.
	 */
	async reset(memoryLimitBytes: number, clock: number | undefined): Promise<void> {
		this.#clock = clock;
		if (this.isSpent || this.grownBytes > keptGrowth) {
			this.#vm = await QuickJS.restore(this.#snapshot, this.#options());
			for (const [name, native] of this.#natives()) this.#vm.registerHostCallback(name, native);
			this.#adopt();
			this.isSpent = false;
		} else {
			const memory = new Uint8Array(this.#vm._getMemory().buffer);
			memory.set(this.#snapshot.memory);
			memory.fill(0, this.#snapshot.memory.byteLength);
			this.#vm._getExports().__stack_pointer.value = this.#snapshot.stackPointer;
		}
		this.limitMemory(memoryLimitBytes);
	}

	limitMemory(bytes: number): void {
		this.#vm._getExports().qjs_set_memory_limit(Math.min(bytes, 2 ** 31 - 1));
	}

	/** Calls a function of the guest's side. Throws a `JSException` if it throws. */
	call(name: GuestFunction, ...given: JSValueHandle[]): JSValueHandle {
		return this.#vm.callFunction(this.#functions[name], this.#vm.undefined, ...given);
	}

	/** Runs one job of the guest; false if there is none. */
	runJob(): boolean {
		const exports = this.#vm._getExports();
		if (exports.qjs_is_job_pending() === 0) return false;
		// A failed job has rejected its own promise; an interruption is handled where it was requested.
		if (exports.qjs_execute_pending_job() < 0) this.#vm.getException().dispose();
		return true;
	}

	/** Returns the value or the reason of a settled promise. */
	outcomeOf(promise: JSValueHandle): JSValueHandle {
		const pointer = this.#vm._getExports().qjs_promise_result(promise.ptr);
		return this.#vm.importHandle(pointer);
	}

	async #prepare(): Promise<void> {
		const vm = await QuickJS.create(this.#options());
		this.#vm = vm;
		const natives = this.#natives().map(([name, native]) => vm.newFunction(name, native));
		const program = vm.evalCode(guestProgram, guestFile);
		const functions = vm.callFunction(program, vm.undefined, ...natives);
		this.#tokens = guestFunctions.map((name) => vm.exportHandle(functions.getProp(name)));
		vm.runGC();
		this.#adopt();
	}

	/** Creates everything that outlives a run, then copies the memory that contains it. */
	#adopt(): void {
		const vm = this.#vm;
		// The engine's wrapper keeps these handles after their first use.
		for (const handle of [vm.global, vm.undefined, vm.null, vm.true, vm.false]) void handle.ptr;
		const entries = guestFunctions.map((name, index) => [name, vm.importHandle(this.#tokens[index] ?? 0)]);
		this.#functions = Object.fromEntries(entries);
		this.#snapshot = vm.snapshot();
	}

	#options(): QuickJSOptions {
		return {
			wasm: this.#module,
			maxStackSize: stackBytes,
			intrinsics,
			timezoneOffset: 0,
			interruptHandler: () => this.#host.interrupt(),
			moduleLoader: {
				normalize: (from, specifier) => withoutStack(() => this.#host.resolve(from, specifier)),
				load: (name) => withoutStack(() => this.#host.load(name)),
			},
			// The engine's output is discarded.
			wasi: (memory) => ({
				fd_write: () => 0,
				clock_time_get: (_id: number, _precision: bigint, at: number) => {
					new DataView(memory.buffer).setBigUint64(at, BigInt(this.#now()) * 1_000_000n, true);
					return 0;
				},
			}),
		};
	}

	/** Code that waits by reading the clock until time has passed would never end if its clock stood still. */
	#now(): number {
		return this.#clock === undefined ? Date.now() : this.#clock++;
	}

	#natives(): readonly (readonly [string, (...given: JSValueHandle[]) => JSValueHandle])[] {
		const host = this.#host;
		const number = (handle: JSValueHandle | undefined): number => handle?.toNumber() ?? 0;
		const text = (handle: JSValueHandle | undefined): string => handle?.toString() ?? "";
		const bytes = (handle: JSValueHandle | undefined): ArrayBuffer =>
			handle?.toArrayBuffer() ?? new ArrayBuffer(0);
		return [
			[
				"holdfast_call",
				(fn, wire) => withoutStack(() => this.#vm.newString(host.call(number(fn), text(wire)))),
			],
			[
				"holdfast_log",
				(level, wire) => {
					host.log(text(level), text(wire));
					return this.#vm.undefined;
				},
			],
			["holdfast_put", (buffer) => withoutStack(() => this.#vm.newNumber(host.putBuffer(bytes(buffer))))],
			[
				"holdfast_take",
				(index) => withoutStack(() => this.#vm.newArrayBuffer(host.takeBuffer(number(index)))),
			],
		];
	}
}

/** Strips an error of the host to its message: the engine's wrapper would pass its stack to the guest. */
function withoutStack<T>(action: () => T): T {
	try {
		return action();
	} catch (error) {
		if (error instanceof Error) error.stack = "";
		throw error;
	}
}
