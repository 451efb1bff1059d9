// One run inside a worker, from its order to its end. States: set up → evaluating the modules → calling the export →
// ended; it is parked in between whenever only the host can continue it.
import type { JSValueHandle } from "quickjs-wasi";
import type { OriginalColumns } from "./erase-types.ts";
import { describeFailure, type Failure, linkFailure } from "./failure.ts";
import { type Graph, importSource, resolve, Unresolved } from "./graph.ts";
import { handOver } from "./guest.ts";
import { Held } from "./held.ts";
import type { Machine } from "./machine.ts";
import type { GuestWire, LogRecord, Reply, RunEnd, RunOrder, Wire } from "./protocol.ts";
import { readSources } from "./read-sources.ts";
import { piecesOf } from "./wire-pieces.ts";

/** The run's connection to the host. */
export interface RunPort {
	/** Sends a piece of the next value, and waits until the host has read it; false if the run must stop. */
	sendPiece(text: string): boolean;
	/** Calls the host and waits for its answer. */
	call(fn: number, wire: GuestWire): Reply;
	/** Sends logs, and waits until the host has read them. */
	sendLogs(logs: readonly LogRecord[]): void;
	/** Reports that only the host can continue the run, which has received `settled` settlements. */
	park(settled: number): void;
	end(end: RunEnd): void;
	/** Whether the host requested the end. */
	isStopRequested(): boolean;
}

type Stop = "stopped" | "cpu" | "memory";

/** Maximum number of pending calls to the host. */
const maxPending = 10_000;
/** Host memory per value in bytes, however small the value. */
const perValue = 64;
/** Maximum number of logs sent together, and their host memory in bytes. */
const [logsAtOnce, logBytesAtOnce] = [100, 128 * 1024];
const stopMessages: Readonly<Record<Stop, string>> = {
	stopped: "The run was terminated",
	cpu: "The run was ended by the limit of computing time",
	memory: "The guest's reports, logs, result and arguments of waiting calls are larger than the memory limit",
};

/** A run in progress. */
export class GuestRun {
	readonly #machine: Machine;
	readonly #order: RunOrder;
	readonly #port: RunPort;
	readonly #graph: Graph;
	readonly #sources = new Map<string, string>();
	/** The column maps of sources whose code is in other columns. */
	readonly #columns = new Map<string, OriginalColumns | undefined>();
	#incoming: readonly ArrayBuffer[] = [];
	#outgoing: ArrayBuffer[] = [];
	#outgoingBytes = 0;
	#logs: LogRecord[] = [];
	#logBytes = 0;
	#stop: Stop | undefined;
	#unresolved: Unresolved | undefined;
	readonly #held: Held;
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
		this.#held = new Held(order.memoryLimitBytes);
		this.#port = port;
		this.#graph = { filename: order.filename, modules: order.modules, imports: order.importNames };
	}

	/** Sets up and evaluates until the run ends or is parked. */
	begin(): void {
		this.#guard(() => {
			const { failure, isBroken } = readSources(
				this.#order,
				{ sources: this.#sources, columns: this.#columns },
				() => this.#port.isStopRequested(),
			);
			this.#retire = isBroken;
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

	/** Settles a promise of the host in the guest. */
	settle(id: number, isFulfilled: boolean, wire: Wire): void {
		if (this.isEnded) return;
		this.#guard(() => {
			this.#pending--;
			this.#settled++;
			this.#held.settle(id);
			const { vm } = this.#machine;
			this.#incoming = wire.buffers;
			const given = [vm.newNumber(id), isFulfilled ? vm.true : vm.false, vm.newString(wire.text)];
			this.#machine.call("settle", ...given).dispose();
			this.#pump();
		});
	}

	/** Ends a parked run. */
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
		if (wire === undefined) return "x";
		this.#flushLogs();
		const reply = this.#outside(() => this.#port.call(fn, wire));
		if (reply.kind === "x") {
			this.#stop ??= "stopped";
			return "x";
		}
		if (fn === this.#order.reportFn) this.#held.keep(wire.size);
		this.#held.wait(reply.promises, wire.size);
		this.#pending += reply.promises.length;
		this.#incoming = reply.wire.buffers;
		return reply.kind + reply.wire.text;
	}

	log(level: string, text: string): void {
		if (this.interrupt()) return;
		const wire = this.#take(text);
		if (wire === undefined) return;
		this.#held.keep(wire.size);
		this.#logBytes += wire.size;
		// A cut one exceeds the limit of a batch, so it is sent right after its pieces.
		this.#logs.push({ level: level as LogRecord["level"], timestamp: Date.now(), wire });
		if (this.#logs.length >= logsAtOnce || this.#logBytes >= logBytesAtOnce) this.#flushLogs();
	}

	putBuffer(bytes: ArrayBuffer): number {
		this.#outgoingBytes += bytes.byteLength;
		if (this.#outgoingBytes > this.#order.memoryLimitBytes) this.#stop ??= "memory";
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

	/** Runs all pending jobs, then ends or parks. */
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
					const message = "The run waits for a promise that can no longer settle";
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

	/** Calls the chosen export; false if that ended the run. */
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
		const result = this.#take(text);
		if (result === undefined) this.#endStopped();
		else this.#end({ status: "success", result, retire: this.#retire });
	}

	/** Runs an action; an error thrown in it ends the run. */
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
		// Describing an error needs memory, and none may be left.
		this.#machine.limitMemory(this.#order.memoryLimitBytes + 1024 * 1024);
		try {
			const text = this.#machine.call("describe", value).toString();
			const failure = describeFailure(text, this.#columns);
			// If there is no memory even for the error, the engine throws null.
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

	/**
	 * Sends all pieces of a value but the last, and returns the last; undefined if the run must stop, or if the host
	 * would exceed its memory limit.
	 */
	#take(text: string): GuestWire | undefined {
		const [buffers, bytes] = [this.#outgoing, this.#outgoingBytes];
		[this.#outgoing, this.#outgoingBytes] = [[], 0];
		const { texts, size: textBytes } = piecesOf(text);
		const size = textBytes + bytes + perValue;
		if (!this.#held.hasRoom(size)) this.#stop ??= "memory";
		if (this.#stop !== undefined) return undefined;
		const last = texts.at(-1) ?? "";
		if (texts.length > 1) {
			this.#flushLogs();
			const isRead = this.#outside(() => texts.slice(0, -1).every((piece) => this.#port.sendPiece(piece)));
			if (!isRead) this.#stop ??= "stopped";
		}
		return this.#stop === undefined ? { text: last, buffers, size } : undefined;
	}

	#flushLogs(): void {
		if (this.#logs.length === 0) return;
		const logs = this.#logs;
		[this.#logs, this.#logBytes] = [[], 0];
		this.#outside(() => this.#port.sendLogs(logs));
	}

	/** Waits for the host, which does not count as computing time. */
	#outside<T>(wait: () => T): T {
		const isComputing = this.#since !== undefined;
		this.#cpuMs = this.#cpuNow();
		this.#since = undefined;
		const value = wait();
		if (isComputing) this.#since = performance.now();
		return value;
	}
}
