// Reading: synchronous, like SQLite. Only a lock of another process makes a read wait, using timers.

import { journalClosed } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { SqlConnection } from "./connection.ts";
import { isBusy, journalError } from "./sqlite-errors.ts";

/**
 * Runs a read, of one statement by default. @throws HoldfastError `journal_closed`, or the converted error of the store.
 */
export type Reading = <T>(read: () => T, statements?: "one" | "several") => MaybePromise<T>;

/** How long a read waits for a lock, in milliseconds. */
const patience = 30_000;

/** The parts of reading from a journal. */
export interface ReadingParts {
	isClosed(): boolean;
	/** Called before each read. */
	readonly check?: (() => void) | undefined;
	/** Wraps each read. Default: none. */
	readonly run?: SqlConnection["read"];
}

/** Creates the read function of a journal. */
export function makeReading({ isClosed, check = () => {}, run = (read) => read() }: ReadingParts): Reading {
	async function later<T>(read: () => T): Promise<T> {
		const end = performance.now() + patience;
		for (let pause = 1; ; pause = Math.min(20, pause * 2)) {
			await new Promise((wake) => setTimeout(wake, pause));
			if (isClosed()) throw journalClosed();
			try {
				return run(read, "several");
			} catch (error) {
				if (!isBusy(error) || performance.now() > end) throw journalError(error);
			}
		}
	}
	return (read, statements = "one") => {
		if (isClosed()) throw journalClosed();
		check();
		try {
			return run(read, statements);
		} catch (error) {
			if (!isBusy(error)) throw journalError(error);
			return later(read);
		}
	};
}
