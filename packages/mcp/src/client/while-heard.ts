// Waits for a server until it has been silent for too long (keeps I7). While it waits for an answer from here, its
// silence does not count.
import { HoldfastError, startTimer } from "@holdfast/upp";

/** How long a server may be silent, and who else ends the wait. */
export interface Patience {
	/** Milliseconds without an answer or progress; Infinity: any time. */
	readonly silenceMs: number;
	/** Ends the wait as its caller asks. */
	readonly signal: AbortSignal;
	/** Whether the server waits for an answer from here. */
	readonly isAsking: () => boolean;
	/** The error for a silent server. */
	readonly silent: () => Error;
}

/** The progress of a pending request. */
export interface Watch {
	/** Ends the request. */
	readonly signal: AbortSignal;
	/** The server has sent something. */
	heard(): void;
	/** Ends the wait with an error. */
	giveUp(error: unknown): void;
}

/** The outcome of a request, or the error that ended the wait for it. */
export async function whileHeard<Value>(
	{ silenceMs, signal, isAsking, silent }: Patience,
	request: (watch: Watch) => Promise<Value>,
): Promise<Value> {
	const ending = new AbortController();
	const ended = Promise.withResolvers<never>();
	const leave = (): void => ending.abort(signal.reason);
	if (signal.aborted) leave();
	else signal.addEventListener("abort", leave);
	const giveUp = (error: unknown): void => {
		ended.reject(error);
		ending.abort(error);
	};
	let callOff: (() => void) | undefined;
	const heard = (): void => {
		callOff?.();
		callOff = startTimer(silenceMs, () => (isAsking() ? heard() : giveUp(silent())));
	};
	heard();
	try {
		return await Promise.race([request({ signal: ending.signal, heard, giveUp }), ended.promise]);
	} finally {
		callOff?.();
		signal.removeEventListener("abort", leave);
	}
}

/** The outcome of a promise within so many milliseconds; rejects with what `late` gives otherwise. */
export async function within<Value>(
	milliseconds: number,
	promise: Promise<Value>,
	late: () => Error,
): Promise<Value> {
	const tooLate = Promise.withResolvers<never>();
	const callOff = startTimer(milliseconds, () => tooLate.reject(late()));
	try {
		return await Promise.race([promise, tooLate.promise]);
	} finally {
		callOff();
	}
}

/** The error of a call at a silent server. `again`: it may be repeated. */
export function silentInCall(
	server: string,
	what: string,
	milliseconds: number,
	again: boolean,
): HoldfastError {
	return silent(
		server,
		`has sent nothing for ${milliseconds} ms while it ran "${what}". It may or may not have had its effect`,
		again,
	);
}

/** The error of connecting to a silent server. */
export function notInTime(server: string, milliseconds: number): HoldfastError {
	return silent(server, `has neither connected nor listed its tools within ${milliseconds} ms`, true);
}

function silent(server: string, what: string, retryable: boolean): HoldfastError {
	return new HoldfastError("server_silent", `The MCP server "${server}" ${what}.`, {
		retryable,
		data: { server },
	});
}
