/** What the command touches of its process, so that tests can stand in for it. */

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

/** The process around a command. */
export interface CommandIo {
	readonly stdout: Output;
	readonly stderr: Output;
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** The current folder. */
	readonly folder: string;
	/** Calls `interrupted` on Ctrl-C and the like; returns the way to stop. */
	onInterrupt(interrupted: () => void): () => void;
	/** Ends the process at once. */
	quit(code: number): void;
}

/** Signals that come closer together than this are one: a terminal and a parent process may both send it. */
const SAME_SIGNAL_MS = 80;

/** The real process. */
export function processIo(): CommandIo {
	return {
		stdout: outputOf(process.stdout),
		stderr: outputOf(process.stderr),
		environment: process.env,
		folder: process.cwd(),
		onInterrupt(interrupted) {
			let last = Number.NEGATIVE_INFINITY;
			const heard = (): void => {
				const now = performance.now();
				if (now - last > SAME_SIGNAL_MS) interrupted();
				last = now;
			};
			const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
			for (const signal of signals) process.on(signal, heard);
			return () => {
				for (const signal of signals) process.off(signal, heard);
			};
		},
		quit: (code) => process.exit(code),
	};
}

function outputOf(stream: NodeJS.WriteStream): Output {
	let closed = false;
	// Whoever read our output is gone: the work goes on, there is only nobody to tell.
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
