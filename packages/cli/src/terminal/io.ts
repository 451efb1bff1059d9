/** The command's interface to the process, which tests can replace. */
import { createInterface } from "node:readline";
import { leaveProcess } from "./leave-process.ts";
import { type PipedOptions, readPiped } from "./piped-text.ts";

/** A destination for text. */
export interface Output {
	write(text: string): void;
	/** Whether it is a terminal that supports control codes. */
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
	/** Returns the text typed after the question; undefined at the end of input, or if `signal` is aborted. */
	ask(question: string, signal: AbortSignal): Promise<string | undefined>;
	close(): void;
}

/** How the process ends after it was asked to stop. */
export interface Ending {
	/** Maximum milliseconds from the signal to the end of the process. */
	readonly within: number;
	/** The exit code if the time limit is reached. */
	readonly code: number;
	/** Called right before the process quits because the time limit is reached. */
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
	/** Reads the piped input as one text; undefined if there is none. */
	readPiped(options?: PipedOptions): Promise<string | undefined>;
	/**
	 * Calls `interrupted` on Ctrl-C and similar signals; returns a function that unsubscribes. The first signal starts
	 * the time limit of `ending`; when it is reached, the process quits, even if work is unfinished.
	 */
	onInterrupt(interrupted: () => void, ending: Ending): () => void;
	/** Ends the process at once. */
	quit(code: number): void;
}

/** Signals closer together than this count as one: a terminal and a parent process may both send it. */
const SAME_SIGNAL_MS = 80;
/** Milliseconds reserved for quitting at the time limit. */
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
				// Never cleared: something may still keep the process alive after the work.
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
	// Keeps the terminal's own line editing, which turns Ctrl-C into a signal.
	const lines = createInterface({ input: process.stdin, terminal: false });
	let answer: (line: string | undefined) => void = () => {};
	let closed = false;
	// Text typed without a pending question is not used to answer a later one.
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
	// The reader closed the output: the work continues without it.
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
		// A terminal of unknown size reports 0.
		get columns() {
			return stream.columns || 80;
		},
		get rows() {
			return stream.rows || 24;
		},
	};
}
