// Ids of remote tasks, stored in the records of a host: a retry after a crash finds the task that the previous attempt
// started, even if the remote agent forgets it (keeps I3).
import type { RecordSpace } from "holdfast/host";

const shelf = "a2a.tasks";
/** Milliseconds for which an id is kept after its call has returned: by then the result is certainly recorded. */
const keptAfterMs = 600_000;
/** Milliseconds after which an id is dropped if no live process uses it. */
const oldestMs = 30 * 24 * 3_600_000;
/** Number of records that are read at a time. */
const page = 500;

interface KeptTask {
	readonly taskId: string;
	/** When it started, in milliseconds since the epoch. */
	readonly at: number;
}

export class KeptTasks {
	readonly #records: RecordSpace;
	readonly #now: () => number;
	/** Names of calls that have returned, and when, oldest first. */
	readonly #over: { readonly name: string; readonly at: number }[] = [];
	#swept: Promise<void> | undefined;

	constructor(records: RecordSpace, now: () => number = Date.now) {
		this.#records = records;
		this.#now = now;
	}

	/** Returns the task of a call; undefined if none was started. */
	async find(call: string): Promise<string | undefined> {
		const { value } = await this.#records.get({ shelf, name: call });
		return (value as KeptTask | undefined)?.taskId;
	}

	/** Durable when it resolves. */
	async keep(call: string, taskId: string): Promise<void> {
		const at = this.#now();
		const old: string[] = [];
		while (this.#over[0] !== undefined && this.#over[0].at <= at - keptAfterMs)
			old.push((this.#over.shift() as { name: string }).name);
		await this.#records.commit(
			[],
			[
				...old.map((name) => ({ shelf, name, value: undefined })),
				{ shelf, name: call, value: { taskId, at } satisfies KeptTask },
			],
		);
		this.#swept ??= this.#sweep(at - oldestMs).catch(() => {}); // the next process tries again
	}

	/** The call has returned. */
	over(call: string): void {
		this.#over.push({ name: call, at: this.#now() });
	}

	async #sweep(before: number): Promise<void> {
		for (let after = ""; ; ) {
			const found = await this.#records.list(shelf, { after, limit: page });
			const old = found.filter(({ value }) => (value as KeptTask).at < before);
			if (old.length > 0)
				await this.#records.commit(
					[],
					old.map(({ name }) => ({ shelf, name, value: undefined })),
				);
			const last = found.at(-1);
			if (found.length < page || last === undefined) return;
			after = last.name;
		}
	}
}
