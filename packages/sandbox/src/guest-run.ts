// One run inside a worker, from its order to its end. States: set up → evaluating the modules → calling the export →
// ended; it is parked in between whenever only the host can continue it.
import type { JSValueHandle } from "quickjs-wasi";
import { eraseTypes, type OriginalColumns } from "./erase-types.ts";
import { describeFailure, type Failure, linkFailure } from "./failure.ts";
import { type Graph, importSource, resolve, Unresolved } from "./graph.ts";
import { handOver } from "./guest.ts";
import type { Machine } from "./machine.ts";
import type { LogRecord, Reply, RunEnd, RunOrder, Wire } from "./protocol.ts";

/** How the run reaches the host. */
export interface RunPort {
	/** Asks the host and waits for its answer. */
	call(fn: number, wire: Wire): Reply;
	sendLogs(logs: readonly LogRecord[]): void;
	/** Only the host can continue the run, which has received so many settlements. */
	park(settled: number): void;
	end(end: RunEnd): void;
	/** Whether the host has asked for the end. */
	isStopRequested(): boolean;
}

type Stop = "stopped" | "cpu" | "memory";

/** Calls to the host that may wait for an answer at once. */
const maxPending = 10_000;
const stopMessages: Readonly<Record<Stop, string>> = {
	stopped: "The run was terminated",
	cpu: "The run was ended by the limit of computing time",
	memory: "What the guest reported and logged is larger than the memory limit",
};

/** A run under way. */
export class GuestRun {
	readonly #machine: Machine;
	readonly #order: RunOrder;
	readonly #port: RunPort;
	readonly #graph: Graph;
	readonly #sources = new Map<string, string>();
	/** Of each source, where its code is in other columns. */
	readonly #columns = new Map<string, OriginalColumns | undefined>();
	#incoming: readonly ArrayBuffer[] = [];
	#outgoing: ArrayBuffer[] = [];
	#logs: LogRecord[] = [];
	#stop: Stop | undefined;
	#unresolved: Unresolved | undefined;
	#sentBytes = 0;
	#pending = 0;
	#settled = 0;
	#cpuMs = 0;
	#since: number | undefined;
	#modules: JSValueHandle | undefined;
	#outcome: JSValueHandle | undefined;
	#retire = false;
	isEnded = false;

	constructor(machine: Machine, order: RunOrder, port: RunPort) {
		this.#machine = machine;
		this.#order = order;
		this.#port = port;
		this.#graph = { filename: order.filename, modules: order.modules, imports: order.importNames };
	}

	/** Sets up and evaluates until the run ends or is parked. */
	begin(): void {
		this.#guard(() => {
			const failure = this.#eraseAll();
			if (failure !== undefined) return this.#fail("link_error", failure);
			const { vm } = this.#machine;
			this.#incoming = this.#order.setup.buffers;
			this.#pending = this.#order.setupPromises;
			this.#machine.call("start", vm.newString(this.#order.setup.text)).dispose();
			const names = this.#order.globalNames;
			if (names.length > 0) {
				const from = `globalThis[${JSON.stringify(handOver)}].globals`;
				vm.evalCode(
					names.map((name) => `const ${name}=${from}[${JSON.stringify(name)}];`).join(""),
					"<setup>",
				).dispose();
			}
			if (this.#order.importNames.size > 0) {
				const imports = [...this.#order.importNames.keys()].map((name) => `import ${JSON.stringify(name)};`);
				vm.evalCode(imports.join(""), "<setup>", 1).dispose();
			}
			this.#machine.call("begin").dispose();
			try {
				this.#modules = vm.evalCode(this.#sources.get(this.#order.filename) ?? "", this.#order.filename, 1);
			} catch (error) {
				return this.#failLink(error);
			}
			this.#pump();
		});
	}

	/** Hands the guest what a promise of the host came to. */
	settle(id: number, isFulfilled: boolean, wire: Wire): void {
		if (this.isEnded) return;
		this.#guard(() => {
			this.#pending--;
			this.#settled++;
			const { vm } = this.#machine;
			this.#incoming = wire.buffers;
			const given = [vm.newNumber(id), isFulfilled ? vm.true : vm.false, vm.newString(wire.text)];
			this.#machine.call("settle", ...given).dispose();
			this.#pump();
		});
	}

	/** Ends a run that is parked. */
	stop(): void {
		if (this.isEnded) return;
		this.#stop ??= "stopped";
		this.#endStopped();
	}

	interrupt(): boolean {
		if (this.#stop === undefined) {
			if (this.#port.isStopRequested()) this.#stop = "stopped";
			else if (this.#cpuNow() > this.#order.cpuLimitMs) this.#stop = "cpu";
		}
		return this.#stop !== undefined;
	}

	call(fn: number, text: string): string {
		if (this.interrupt()) return "x";
		if (this.#pending >= maxPending) throw new Error(`More than ${maxPending} calls wait for the host`);
		const wire = this.#take(text);
		if (fn === this.#order.reportFn) this.#meter(wire);
		if (this.#stop !== undefined) return "x";
		this.#flushLogs();
		this.#cpuMs = this.#cpuNow();
		const reply = this.#port.call(fn, wire);
		this.#since = performance.now();
		if (reply.kind === "x") {
			this.#stop ??= "stopped";
			return "x";
		}
		this.#pending += reply.promises;
		this.#incoming = reply.wire.buffers;
		return reply.kind + reply.wire.text;
	}

	log(level: string, text: string): void {
		const wire = this.#take(text);
		if (this.interrupt()) return;
		this.#meter(wire);
		if (this.#stop !== undefined) return;
		this.#logs.push({ level: level as LogRecord["level"], timestamp: Date.now(), wire });
		if (this.#logs.length >= 100) this.#flushLogs();
	}

	putBuffer(bytes: ArrayBuffer): number {
		const held = this.#outgoing.reduce((sum, { byteLength }) => sum + byteLength, bytes.byteLength);
		if (held > this.#order.memoryLimitBytes) this.#stop ??= "memory";
		return this.#stop === undefined ? this.#outgoing.push(bytes) - 1 : 0;
	}

	takeBuffer(index: number): ArrayBuffer {
		return this.#incoming[index] ?? new ArrayBuffer(0);
	}

	resolve(from: string, specifier: string): string {
		try {
			return from === "<setup>" ? specifier : resolve(this.#graph, from, specifier);
		} catch (error) {
			if (error instanceof Unresolved) this.#unresolved = error;
			throw error;
		}
	}

	load(name: string): string {
		const names = this.#order.importNames.get(name);
		return names === undefined ? (this.#sources.get(name) ?? "") : importSource(handOver, name, names);
	}

	#eraseAll(): Failure | undefined {
		const { filename, source, modules, language } = this.#order;
		for (const [name, text] of [...modules, [filename, source] as const]) {
			if (this.#port.isStopRequested()) return undefined;
			this.#columns.set(name, undefined);
			if (language === "javascript") {
				this.#sources.set(name, text);
				continue;
			}
			const erased = eraseTypes(text);
			if (erased.kind === "code") {
				this.#sources.set(name, erased.code);
				this.#columns.set(name, erased.columns);
				continue;
			}
			if (erased.kind === "broken") this.#retire = true;
			const place = erased.kind === "error" ? { line: erased.line, column: erased.column } : {};
			return linkFailure("SyntaxError", erased.message, name, place);
		}
		return undefined;
	}

	/** Runs what can be run, then ends or parks. */
	#pump(): void {
		for (;;) {
			while (this.#stop === undefined && this.#machine.runJob())
				if (this.#port.isStopRequested()) this.interrupt();
			if (this.interrupt()) {
				this.#endStopped();
				return;
			}
			const waitsFor = this.#outcome ?? this.#modules;
			if (waitsFor === undefined) return;
			if (waitsFor.promiseState === 0) {
				if (this.#pending === 0) {
					const message = "The run waits for a promise that nothing can settle any more";
					this.#fail("error", { error: { name: "Error", message }, isMemory: false });
					return;
				}
				this.#flushLogs();
				this.#cpuMs = this.#cpuNow();
				this.#since = undefined;
				this.#port.park(this.#settled);
				return;
			}
			const value = this.#machine.outcomeOf(waitsFor);
			if (waitsFor.promiseState === 2) {
				this.#fail("error", this.#describe(value));
				return;
			}
			if (this.#outcome !== undefined) {
				this.#succeed(value);
				return;
			}
			if (!this.#select(value)) return;
		}
	}

	/** Calls the chosen export; false where the run has ended with that. */
	#select(module: JSValueHandle): boolean {
		const { vm } = this.#machine;
		const { fn, filename } = this.#order;
		const outcome = this.#machine.call("select", module, vm.newString(fn));
		if (this.interrupt()) {
			this.#endStopped();
			return false;
		}
		if (outcome.isUndefined) {
			this.#fail("link_error", linkFailure("SyntaxError", `The module has no export "${fn}"`, filename, {}));
			return false;
		}
		this.#outcome = outcome;
		return true;
	}

	#succeed(value: JSValueHandle): void {
		const text = this.#machine.call("encode", value).toString();
		if (this.interrupt()) {
			this.#endStopped();
			return;
		}
		this.#end({ status: "success", result: this.#take(text), retire: this.#retire });
	}

	/** Whatever is thrown in here ends the run. */
	#guard(action: () => void): void {
		this.#since = performance.now();
		try {
			action();
		} catch (error) {
			this.#machine.isSpent = true;
			if (this.#stop !== undefined) {
				this.#endStopped();
				return;
			}
			this.#fail("error", this.#thrown(error));
		} finally {
			if (!this.isEnded && this.#since !== undefined) this.#cpuMs = this.#cpuNow();
			this.#since = undefined;
		}
	}

	#failLink(error: unknown): void {
		this.#machine.isSpent = true;
		if (this.interrupt()) {
			this.#endStopped();
			return;
		}
		const failure = this.#thrown(error);
		if (failure.isMemory) {
			this.#fail("memory", failure);
			return;
		}
		const unresolved = this.#unresolved;
		const { filename } = this.#order;
		if (unresolved !== undefined) {
			const { message, specifier } = unresolved;
			this.#fail("link_error", linkFailure("SyntaxError", message, specifier, {}));
			return;
		}
		const missing = /^Could not find export .* in module '(.*)'$/s.exec(failure.error.message)?.[1];
		const specifier = missing ?? failure.error.filename ?? filename;
		this.#fail("link_error", { ...failure, error: { ...failure.error, specifier } });
	}

	#thrown(error: unknown): Failure {
		const handle = (error as { handle?: JSValueHandle }).handle;
		if (handle !== undefined) return this.#describe(handle);
		// The engine itself failed: its own stack overflowed, or its memory cannot grow.
		const isMemory = error instanceof Error && /malloc|memory/.test(error.message);
		const name = error instanceof RangeError ? "RangeError" : "InternalError";
		return { error: { name, message: isMemory ? "out of memory" : "The engine failed" }, isMemory };
	}

	#describe(value: JSValueHandle): Failure {
		// Describing an error needs memory, of which there may be none left.
		this.#machine.limitMemory(this.#order.memoryLimitBytes + 1024 * 1024);
		try {
			const text = this.#machine.call("describe", value).toString();
			const failure = describeFailure(text, this.#columns);
			// Where even the error found no memory, the engine throws null.
			const isMemory =
				failure.isMemory || (value.isNull && this.#memoryUsed() > this.#order.memoryLimitBytes * 0.9);
			return { ...failure, isMemory };
		} catch {
			return {
				error: { name: "Error", message: "An error was thrown that cannot be described" },
				isMemory: false,
			};
		}
	}

	#fail(status: "error" | "memory" | "link_error", { error, isMemory }: Failure): void {
		if (this.interrupt()) {
			this.#endStopped();
			return;
		}
		if (isMemory) this.#machine.isSpent = true;
		this.#end({ status: isMemory ? "memory" : status, error, retire: this.#retire });
	}

	#endStopped(): void {
		const stop = this.#stop ?? "stopped";
		const error = { name: stop === "memory" ? "RangeError" : "Error", message: stopMessages[stop] };
		this.#machine.isSpent = true;
		this.#end({ status: stop === "memory" ? "memory" : "terminated", error, retire: this.#retire });
	}

	#end(end: RunEnd): void {
		if (this.isEnded) return;
		this.isEnded = true;
		this.#flushLogs();
		this.#port.end({ ...end, memoryUsedBytes: this.#memoryUsed() });
	}

	#memoryUsed(): number {
		try {
			return Math.max(1, this.#machine.vm.getMemoryUsage().mallocSize, this.#machine.grownBytes);
		} catch {
			return Math.max(1, this.#machine.grownBytes);
		}
	}

	#cpuNow(): number {
		return this.#cpuMs + (this.#since === undefined ? 0 : performance.now() - this.#since);
	}

	#take(text: string): Wire {
		const buffers = this.#outgoing;
		this.#outgoing = [];
		return { text, buffers };
	}

	#meter({ text, buffers }: Wire): void {
		this.#sentBytes += text.length + 64;
		for (const { byteLength } of buffers) this.#sentBytes += byteLength;
		if (this.#sentBytes > this.#order.memoryLimitBytes) this.#stop ??= "memory";
	}

	#flushLogs(): void {
		if (this.#logs.length === 0) return;
		this.#port.sendLogs(this.#logs);
		this.#logs = [];
	}
}
