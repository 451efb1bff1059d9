// Waits for a server until it has been silent for too long (keeps I7). While the server waits for an answer from here,
// its silence does not count.
import { HoldfastError, startTimer } from "@holdfast/upp";

/** How long a server may be silent, and what else ends the wait. */
export interface Patience {
	/** Milliseconds without an answer or progress; Infinity: no limit. */
	readonly silenceMs: number;
	/** Ends the wait on behalf of the caller. */
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
	/** Call it when the server has sent something. */
	heard(): void;
	/** Ends the wait with an error. */
	giveUp(error: unknown): void;
}

/** Returns the outcome of a request, or rejects with the error that ended the wait. */
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

/** Returns the outcome of a promise within some milliseconds; rejects with the result of `late` otherwise. */
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

/** Returns the error of a call to a silent server. `again`: the call may be repeated. */
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

/** Returns the error of connecting to a silent server. */
export function notInTime(server: string, milliseconds: number): HoldfastError {
	return silent(server, `has neither connected nor listed its tools within ${milliseconds} ms`, true);
}

function silent(server: string, what: string, retryable: boolean): HoldfastError {
	return new HoldfastError("server_silent", `The MCP server "${server}" ${what}.`, {
		retryable,
		data: { server },
	});
}
