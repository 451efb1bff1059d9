// Lines of a structured log, as Pino writes them: an object with ids, and a sentence. Every line of a run has the ids of its
// session, run, trace and span, so that logs, traces and the journal are found from one another.

/** Takes lines; a Pino logger is one. Must not throw. */
export interface ObserverLogger {
	info(fields: Readonly<Record<string, unknown>>, message: string): void;
	warn(fields: Readonly<Record<string, unknown>>, message: string): void;
	error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export class RunLog {
	readonly #logger: ObserverLogger | undefined;

	constructor(logger: ObserverLogger | undefined) {
		this.#logger = logger;
	}

	/** Writes a line; fields that are undefined are left out. */
	write(level: keyof ObserverLogger, message: string, fields: Readonly<Record<string, unknown>>): void {
		if (this.#logger === undefined) return;
		const known = Object.entries(fields).filter(([, value]) => value !== undefined);
		this.#logger[level](Object.fromEntries(known), message);
	}
}
