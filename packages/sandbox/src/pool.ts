// The threads of a sandbox. A thread has at most one run. A thread is starting, idle, computing, or parked while its
// run waits for the host. Parked threads do not count against `workers`, so runs that wait for people do not prevent
// others from computing. A thread that does not stop on request is terminated and replaced.

import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { attempt, type MaybePromise } from "@holdfast/upp";
import type { Execution } from "./execution.ts";
import type { Limits } from "./options.ts";
import { control, type FromWorker, type Reply, sizeOf, type ToWorker } from "./protocol.ts";
import { workerProgram } from "./worker-program.ts";

/** Milliseconds that a guest has to stop. */
const stopWithinMs = 25;
/** Milliseconds after the limit of computing time until a thread that did not stop is terminated. */
const capGraceMs = 250;

interface Thread {
	readonly worker: Worker;
	readonly words: Int32Array;
	readonly replies: MessagePort;
	isReady: boolean;
	isParked: boolean;
	/** Settlements sent to its current run. */
	sent: number;
	/** Bytes of all settlements sent. */
	sentBytes: number;
	execution: Execution | undefined;
	timer: NodeJS.Timeout | undefined;
}

/** Threads, and the runs that wait for one. */
export class Pool {
	readonly #limits: Limits;
	#program: string | URL | undefined;
	readonly #threads = new Set<Thread>();
	readonly #waiting = new Set<Execution>();
	#warmed: (() => void)[] = [];

	constructor(limits: Limits) {
		this.#limits = limits;
	}

	/** @throws HoldfastError `sandbox_worker_missing` */
	submit(execution: Execution): void {
		this.#findProgram();
		this.#waiting.add(execution);
		this.#schedule();
	}

	/** Removes a run from the queue. */
	abandon(execution: Execution): void {
		this.#waiting.delete(execution);
	}

	/** Starts the threads; resolves when all are ready. */
	async warm(): Promise<void> {
		while (this.#threads.size < Math.min(this.#limits.workers, this.#limits.maxRuns)) this.#start();
		return new Promise((resolve) => {
			this.#warmed.push(resolve);
			this.#checkWarm();
		});
	}

	/** Terminates all runs and ends the threads. */
	async close(): Promise<void> {
		for (const execution of this.#waiting) execution.terminate("The sandbox was closed");
		const threads = [...this.#threads];
		for (const { execution } of threads) {
			execution?.terminate("The sandbox was closed");
			execution?.lose("terminated", "The sandbox was closed");
		}
		await Promise.all(threads.map((thread) => this.#end(thread)));
		this.#checkWarm();
	}

	#schedule(): void {
		for (const execution of this.#waiting) {
			const thread = [...this.#threads].find((one) => one.execution === undefined);
			const computing = [...this.#threads].filter(
				(one) => one.execution !== undefined && !one.isParked,
			).length;
			if (computing >= this.#limits.workers) return;
			if (thread === undefined && this.#threads.size >= this.#limits.maxRuns) return;
			this.#waiting.delete(execution);
			this.#assign(thread ?? this.#start(), execution);
		}
	}

	#assign(thread: Thread, execution: Execution): void {
		thread.execution = execution;
		thread.isParked = false;
		thread.sent = 0;
		thread.worker.ref();
		if (thread.isReady) this.#order(thread, execution);
		// Until the thread is ready, the run has not started and ends at once when it is terminated.
		else execution.enter({ settle: () => {}, stop: () => this.#withdraw(thread, execution) });
	}

	#withdraw(thread: Thread, execution: Execution): void {
		execution.finish({ status: "terminated", retire: false });
		this.#release(thread);
	}

	#order(thread: Thread, execution: Execution): void {
		const { run, setup, cpuLimitMs, memoryLimitBytes } = execution.order;
		execution.enter({
			settle: (id, ok, wire) => {
				const sentBytes = thread.sentBytes + sizeOf(wire);
				// Both counters overflow and wrap around.
				if ((sentBytes - Atomics.load(thread.words, control.taken)) >>> 0 > memoryLimitBytes) {
					execution.exhaust();
					return;
				}
				thread.sent++;
				thread.sentBytes = sentBytes;
				if (thread.isParked) {
					thread.isParked = false;
					thread.worker.ref();
					this.#watch(thread, cpuLimitMs + capGraceMs, capMessage);
				}
				this.#send(thread, { kind: "settle", run, id, ok, wire }, wire.buffers);
			},
			stop: () => {
				Atomics.store(thread.words, control.stop, run);
				this.#send(thread, { kind: "stop", run });
				this.#watch(thread, stopWithinMs, "The run was terminated");
			},
		});
		this.#watch(thread, cpuLimitMs + capGraceMs, capMessage);
		this.#send(thread, execution.order, setup.buffers);
	}

	#send(thread: Thread, message: ToWorker, buffers: readonly ArrayBuffer[] = []): void {
		thread.worker.postMessage(message, [...buffers]);
	}

	/** Ends the thread if it does not respond in time. */
	#watch(thread: Thread, ms: number, message: string): void {
		clearTimeout(thread.timer);
		thread.timer = setTimeout(() => {
			const { execution } = thread;
			void this.#end(thread);
			execution?.lose("terminated", message);
			this.#schedule();
		}, ms);
	}

	#findProgram(): string | URL {
		this.#program ??= workerProgram(this.#limits.worker);
		return this.#program;
	}

	#start(): Thread {
		const channel = new MessageChannel();
		const words = new Int32Array(new SharedArrayBuffer(control.words * Int32Array.BYTES_PER_ELEMENT));
		const worker = new Worker(this.#findProgram(), {
			name: "holdfast-sandbox",
			workerData: { words, replies: channel.port2 },
			transferList: [channel.port2],
			execArgv: ["--no-warnings"],
			env: {},
			resourceLimits: { stackSizeMb: 8, maxOldGenerationSizeMb: 1024 },
		});
		const thread: Thread = {
			worker,
			words,
			replies: channel.port1,
			isReady: false,
			isParked: false,
			sent: 0,
			sentBytes: 0,
			execution: undefined,
			timer: undefined,
		};
		this.#threads.add(thread);
		worker.unref();
		channel.port1.unref();
		worker.on("message", (message: FromWorker) => this.#receive(thread, message));
		worker.on("error", (error: Error & { readonly code?: string }) => this.#lose(thread, error));
		worker.on("exit", () => this.#lose(thread));
		return thread;
	}

	#receive(thread: Thread, message: FromWorker): void {
		const { execution } = thread;
		if (message.kind === "ready") {
			thread.isReady = true;
			this.#checkWarm();
			if (execution !== undefined) this.#order(thread, execution);
			return;
		}
		const ours = execution?.order.run === message.run ? execution : undefined;
		if (message.kind === "call") this.#reply(thread, () => ours?.answer(message.fn, message.wire));
		else if (message.kind === "piece") this.#reply(thread, () => ours?.addPiece(message.text));
		else if (message.kind === "logs") this.#reply(thread, () => ours?.addLogs(message.logs));
		else if (ours === undefined) return;
		else if (message.kind === "parked") {
			// A settlement that was sent since then continues the run.
			if (message.settled !== thread.sent) return;
			clearTimeout(thread.timer);
			thread.isParked = true;
			thread.worker.unref();
			this.#schedule();
			ours.park();
		} else {
			void attempt(
				() => ours.end(message.end),
				() => {
					// The thread may have been ended because its run was stopped.
					if (thread.execution !== ours) return;
					if (message.end.retire) void this.#end(thread);
					else this.#release(thread);
					this.#schedule();
				},
				() => {},
			);
		}
	}

	/** Answers the message that the thread is waiting for. */
	#reply(thread: Thread, answer: () => MaybePromise<Reply> | undefined): void {
		const send = (reply: Reply): void => {
			if (!this.#threads.has(thread)) return;
			thread.timer?.refresh();
			thread.replies.postMessage(reply);
			Atomics.add(thread.words, control.replies, 1);
			Atomics.notify(thread.words, control.replies);
		};
		void attempt<Reply, void, void>(
			() => answer() ?? unheard,
			send,
			() => send(unheard),
		);
	}

	/** Frees the thread of its run. */
	#release(thread: Thread): void {
		clearTimeout(thread.timer);
		thread.execution = undefined;
		thread.isParked = false;
		thread.worker.unref();
		const idle = [...this.#threads].filter((one) => one.execution === undefined).length;
		if (idle > this.#limits.workers) void this.#end(thread);
	}

	#lose(thread: Thread, cause?: Error & { readonly code?: string }): void {
		const { execution } = thread;
		if (!this.#threads.has(thread)) return;
		void this.#end(thread);
		if (cause?.code === "ERR_WORKER_OUT_OF_MEMORY")
			execution?.lose("memory", "The thread of the run ran out of memory");
		else {
			const why = cause === undefined ? "" : `: ${cause.message}`;
			execution?.lose("error", `The thread of the run ended${why}`);
		}
		this.#schedule();
		this.#checkWarm();
	}

	async #end(thread: Thread): Promise<void> {
		clearTimeout(thread.timer);
		this.#threads.delete(thread);
		thread.execution = undefined;
		thread.replies.close();
		await thread.worker.terminate();
	}

	#checkWarm(): void {
		if (![...this.#threads].every(({ isReady }) => isReady)) return;
		for (const resolve of this.#warmed) resolve();
		this.#warmed = [];
	}
}

/** The reply for a run that has ended. */
const unheard: Reply = { kind: "x", wire: { text: "", buffers: [] }, promises: [] };
const capMessage = "The run was ended by the limit of computing time";
