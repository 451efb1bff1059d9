// A bounded queue between one producer and one consumer (keeps I7). At the limit, adjacent items are joined if possible,
// so that the queue's size depends on the length of the text and not on how finely it was streamed.

export interface EventQueueOptions<T> {
	/** The number of waiting items from which adjacent ones are joined. Default 1,000. */
	readonly limit?: number;
	/** Joins two adjacent items into one; returns undefined if they must stay separate. */
	join?(last: T, next: T): T | undefined;
}

interface Waiter<T> {
	resolve(result: IteratorResult<T>): void;
	reject(error: unknown): void;
}

export class EventQueue<T> implements AsyncIterableIterator<T> {
	readonly #limit: number;
	readonly #join: EventQueueOptions<T>["join"];
	#items: T[] = [];
	#head = 0;
	#waiting: Waiter<T> | undefined;
	/** Further reads that were requested before the first was answered, in order; rare. */
	#line: Waiter<T>[] | undefined;
	#end: { readonly error?: unknown } | undefined;
	#left = false;

	constructor(options: EventQueueOptions<T> = {}) {
		this.#limit = options.limit ?? 1000;
		this.#join = options.join;
	}

	push(item: T): void {
		if (this.#left || this.#end !== undefined) return;
		const waiting = this.#waiting;
		if (waiting !== undefined) {
			this.#waiting = this.#line?.shift();
			waiting.resolve({ value: item, done: false });
			return;
		}
		const items = this.#items;
		if (items.length - this.#head >= this.#limit && this.#join !== undefined) {
			const joined = this.#join(items[items.length - 1] as T, item);
			if (joined !== undefined) {
				items[items.length - 1] = joined;
				return;
			}
		}
		items.push(item);
	}

	/** Ends the queue. If there is an error, iteration throws it after the last item. */
	end(end: { readonly error?: unknown } = {}): void {
		this.#end ??= end;
		const waiting = this.#waiting;
		if (waiting === undefined) return;
		if ("error" in this.#end) {
			waiting.reject(this.#end.error);
			this.#end = {}; // thrown once
			this.#waiting = this.#line?.shift();
		}
		this.#dismiss();
	}

	/** The number of waiting items. */
	get length(): number {
		return this.#items.length - this.#head;
	}

	/** Removes the first waiting item. */
	dropFirst(): void {
		if (this.length > 0) this.#take();
	}

	/** Whether a read is waiting for the next item. */
	get isWaiting(): boolean {
		return this.#head >= this.#items.length && this.#end === undefined && !this.#left;
	}

	next(): Promise<IteratorResult<T>> {
		if (this.#head < this.#items.length) return Promise.resolve({ value: this.#take(), done: false });
		if (this.#left) return Promise.resolve({ value: undefined, done: true });
		if (this.#end !== undefined) {
			const end = this.#end;
			this.#end = {};
			return "error" in end ? Promise.reject(end.error) : Promise.resolve({ value: undefined, done: true });
		}
		return new Promise((resolve, reject) => {
			const waiter = { resolve, reject };
			if (this.#waiting === undefined) {
				this.#waiting = waiter;
				return;
			}
			this.#line ??= [];
			this.#line.push(waiter);
		});
	}

	[Symbol.asyncIterator](): this {
		return this;
	}

	#take(): T {
		const value = this.#items[this.#head] as T;
		this.#items[this.#head++] = undefined as T;
		if (this.#head === this.#items.length) {
			this.#items.length = 0;
			this.#head = 0;
		} else if (this.#head >= 1024 && this.#head * 2 >= this.#items.length) {
			this.#items = this.#items.slice(this.#head);
			this.#head = 0;
		}
		return value;
	}

	/** The consumer leaves; later items are dropped. */
	return(): Promise<IteratorResult<T>> {
		this.#left = true;
		this.#items = [];
		this.#head = 0;
		this.#dismiss();
		return Promise.resolve({ value: undefined, done: true });
	}

	/** Ends all pending reads. */
	#dismiss(): void {
		for (const waiter of [this.#waiting, ...(this.#line ?? [])])
			waiter?.resolve({ value: undefined, done: true });
		this.#waiting = undefined;
		this.#line = undefined;
	}
}
