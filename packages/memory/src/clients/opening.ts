// Opens a storage once, on the first call that requires it. The next call repeats a failed attempt.
import type { Storage } from "../storage/index.ts";

/** `closed` → `opening` → `open` → `closed`; a failed opening leads back to `closed`. Any call opens. */
export class Opening {
	readonly #storage: Storage;
	#opened: Promise<void> | undefined;

	constructor(storage: Storage) {
		this.#storage = storage;
	}

	async open(): Promise<Storage> {
		if (this.#opened === undefined) {
			const opened = this.#storage.open();
			this.#opened = opened;
			opened.catch(() => {
				if (this.#opened === opened) this.#opened = undefined;
			});
		}
		await this.#opened;
		return this.#storage;
	}

	async close(): Promise<void> {
		const opened = this.#opened;
		this.#opened = undefined;
		if (opened === undefined) return;
		await opened.catch(() => {});
		await this.#storage.close();
	}
}
