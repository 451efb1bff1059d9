// Entry `@holdfast/sandbox/worker`: the program of a sandbox's thread. The sandbox starts it; do not import it.
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { GuestRun } from "./guest-run.ts";
import { Machine } from "./machine.ts";
import { control, type FromWorker, type Reply, type RunOrder, sizeOf, type ToWorker } from "./protocol.ts";

/** The data that a thread starts with. */
export interface ThreadData {
	/** Shared memory by which the sandbox interrupts and wakes the thread. */
	readonly words: Int32Array;
	/** Receives the answers to the guest's calls. */
	readonly replies: MessagePort;
}

function isThreadData(data: unknown): data is ThreadData {
	return typeof data === "object" && data !== null && "words" in data && "replies" in data;
}

async function serve({ words, replies }: ThreadData): Promise<void> {
	let current: GuestRun | undefined;
	let currentRun = 0;

	function send(message: FromWorker, buffers: readonly ArrayBuffer[] = []): void {
		parentPort?.postMessage(message, [...buffers]);
	}

	function running(): GuestRun {
		if (current === undefined) throw new Error("No run is active");
		return current;
	}

	const machine = await Machine.create({
		call: (fn, text) => running().call(fn, text),
		log: (level, text) => running().log(level, text),
		putBuffer: (bytes) => running().putBuffer(bytes),
		takeBuffer: (index) => running().takeBuffer(index),
		interrupt: () => current?.interrupt() ?? false,
		resolve: (from, specifier) => running().resolve(from, specifier),
		load: (name) => running().load(name),
	});

	/** Sends a message and waits for its answer. */
	function ask(message: FromWorker, buffers: readonly ArrayBuffer[] = []): Reply {
		let before = Atomics.load(words, control.replies);
		send(message, buffers);
		for (;;) {
			const received: { readonly message: Reply } | undefined = receiveMessageOnPort(replies);
			if (received !== undefined) return received.message;
			Atomics.wait(words, control.replies, before);
			before = Atomics.load(words, control.replies);
		}
	}

	async function start(order: RunOrder): Promise<void> {
		const run = order.run;
		await machine.reset(order.memoryLimitBytes, order.clock);
		currentRun = run;
		current = new GuestRun(machine, order, {
			sendPiece: (text) => ask({ kind: "piece", run, text }).kind !== "x",
			call: (fn, wire) => ask({ kind: "call", run, fn, wire }, wire.buffers),
			sendLogs: (logs) => void ask({ kind: "logs", run, logs }),
			park: (settled) => send({ kind: "parked", run, settled }),
			end: (end) => send({ kind: "end", run, end }, end.result?.buffers),
			isStopRequested: () => Atomics.load(words, control.stop) === run,
		});
		current.begin();
	}

	parentPort?.on("message", (message: ToWorker) => {
		if (message.kind === "settle") Atomics.add(words, control.taken, sizeOf(message.wire));
		if (message.kind === "run") void start(message);
		else if (message.run !== currentRun || current === undefined) return;
		else if (message.kind === "stop") current.stop();
		else current.settle(message.id, message.ok, message.wire);
	});
	send({ kind: "ready" });
}

// Does nothing if imported elsewhere. Without a top-level await it can also be built as CommonJS.
if (isThreadData(workerData)) void serve(workerData);
