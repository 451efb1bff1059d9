// Reading: at once, as SQLite answers at once; only a lock of another process makes a read wait, with timers.

import { journalClosed } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import { isBusy, journalError } from "./sqlite-errors.ts";

/** Carries out a read. @throws HoldfastError `journal_closed`, or what the store's error means. */
export type Reading = <T>(read: () => T) => MaybePromise<T>;

/** Milliseconds for which a read waits for a lock. */
const patience = 30_000;

/** Makes the reading of a journal that knows whether it is closed. `check` is called before each read. */
export function makeReading(isClosed: () => boolean, check: () => void = () => {}): Reading {
	async function later<T>(read: () => T): Promise<T> {
		const end = performance.now() + patience;
		for (let pause = 1; ; pause = Math.min(20, pause * 2)) {
			await new Promise((wake) => setTimeout(wake, pause));
			if (isClosed()) throw journalClosed();
			try {
				return read();
			} catch (error) {
				if (!isBusy(error) || performance.now() > end) throw journalError(error);
			}
		}
	}
	return (read) => {
		if (isClosed()) throw journalClosed();
		check();
		try {
			return read();
		} catch (error) {
			if (!isBusy(error)) throw journalError(error);
			return later(read);
		}
	};
}
