/** The process interface of the command, which tests can replace. */
import { createInterface } from "node:readline";
import { leaveProcess } from "./leave-process.ts";
import { type PipedOptions, readPiped } from "./piped-text.ts";

/** A place to write text to. */
export interface Output {
	write(text: string): void;
	/** Whether it is a terminal that understands control codes. */
	readonly isTerminal: boolean;
	/** Whether colours may be used. */
	readonly hasColours: boolean;
	/** Columns of the terminal. */
	readonly columns: number;
	/** Rows of the terminal. */
	readonly rows: number;
}

/** Asks the user, line by line. */
export interface Questions {
	/** The text typed after the question; undefined at the end of input, or when `signal` is aborted. */
	ask(question: string, signal: AbortSignal): Promise<string | undefined>;
	close(): void;
}

/** How a process ends that was asked to. */
export interface Ending {
	/** Milliseconds from the signal to the end of the process, at most. */
	readonly within: number;
	/** The exit code when the time is up. */
	readonly code: number;
	/** Called right before the process quits because the time is up. */
	late?(): void;
}

/** The process around a command. */
export interface CommandIo {
	readonly stdout: Output;
	readonly stderr: Output;
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** The current folder. */
	readonly folder: string;
	/** Undefined without a terminal. */
	openQuestions(): Questions | undefined;
	/** The piped input as one text. Undefined if there is none. */
	readPiped(options?: PipedOptions): Promise<string | undefined>;
	/**
	 * Calls `interrupted` on Ctrl-C and the like; returns the way to stop. From the first time on the process has the time of
	 * `ending`, and quits when it is up, whatever has not settled by then.
	 */
	onInterrupt(interrupted: () => void, ending: Ending): () => void;
	/** Ends the process at once. */
	quit(code: number): void;
}

/** Signals that come closer together than this are one: a terminal and a parent process may both send it. */
const SAME_SIGNAL_MS = 80;
/** Milliseconds that are left for quitting when the time is up. */
const QUITTING_MS = 200;

/** The real process. */
export function processIo(): CommandIo {
	return {
		stdout: outputOf(process.stdout),
		stderr: outputOf(process.stderr),
		environment: process.env,
		folder: process.cwd(),
		openQuestions: () =>
			process.stdin.isTTY === true && process.stdout.isTTY === true ? terminalQuestions() : undefined,
		readPiped: (options) => readPiped(process.stdin, options),
		onInterrupt(interrupted, { within, code, late }) {
			let last = Number.NEGATIVE_INFINITY;
			const heard = (): void => {
				const now = performance.now();
				// It is not taken back: what holds a process may be what comes after the work.
				if (last < 0) setTimeout(timeIsUp, within - QUITTING_MS).unref();
				if (now - last > SAME_SIGNAL_MS) interrupted();
				last = now;
			};
			const timeIsUp = (): void => {
				try {
					late?.();
				} finally {
					leaveProcess(code);
				}
			};
			const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
			for (const signal of signals) process.on(signal, heard);
			return () => {
				for (const signal of signals) process.off(signal, heard);
			};
		},
		quit: leaveProcess,
	};
}

function terminalQuestions(): Questions {
	// The terminal's own line editing stays, and so does what it makes of Ctrl-C: a signal.
	const lines = createInterface({ input: process.stdin, terminal: false });
	let answer: (line: string | undefined) => void = () => {};
	let closed = false;
	// Text typed without a pending question does not answer a later one.
	lines.on("line", (line) => answer(line));
	lines.on("close", () => {
		closed = true;
		answer(undefined);
	});
	return {
		async ask(question, signal) {
			if (closed || signal.aborted) return undefined;
			const { promise, resolve } = Promise.withResolvers<string | undefined>();
			const leave = (): void => resolve(undefined);
			answer = resolve;
			signal.addEventListener("abort", leave);
			process.stdout.write(question);
			try {
				const said = await promise;
				if (said === undefined) process.stdout.write("\n");
				return said;
			} finally {
				answer = () => {};
				signal.removeEventListener("abort", leave);
			}
		},
		close: () => lines.close(),
	};
}

function outputOf(stream: NodeJS.WriteStream): Output {
	let closed = false;
	// The reader of the output has left: the work continues without output.
	stream.on("error", (error: NodeJS.ErrnoException) => {
		if (error.code !== "EPIPE") throw error;
		closed = true;
	});
	const { NO_COLOR, TERM } = process.env;
	const isTerminal = stream.isTTY === true && TERM !== "dumb" && (NO_COLOR ?? "") === "";
	return {
		write: (text) => {
			if (!closed) stream.write(text);
		},
		isTerminal,
		hasColours: isTerminal,
		// A terminal that does not know its size says 0.
		get columns() {
			return stream.columns || 80;
		},
		get rows() {
			return stream.rows || 24;
		},
	};
}
