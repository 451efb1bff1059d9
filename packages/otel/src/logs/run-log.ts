// Lines of a structured log in Pino's form: an object with ids, and a sentence. Every line of a run has the ids of its
// session, run, trace and span, which connect logs, traces and the journal.

/** Accepts log lines, as a Pino logger does. Must not throw. */
export interface ObserverLogger {
	/** Logs that a run started, answered, waits or ended, and its tool calls. */
	info(fields: Readonly<Record<string, unknown>>, message: string): void;
	/** Logs a tool call that failed. */
	warn(fields: Readonly<Record<string, unknown>>, message: string): void;
	/** Logs a run that failed or was parked. */
	error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export class RunLog {
	readonly #logger: ObserverLogger | undefined;

	constructor(logger: ObserverLogger | undefined) {
		this.#logger = logger;
	}

	/** Writes a line; undefined fields are omitted. */
	write(level: keyof ObserverLogger, message: string, fields: Readonly<Record<string, unknown>>): void {
		if (this.#logger === undefined) return;
		const known = Object.entries(fields).filter(([, value]) => value !== undefined);
		this.#logger[level](Object.fromEntries(known), message);
	}
}
