// A bounded queue between one producer and one consumer (keeps I7). At the limit, adjacent items are joined where
// they can be, so that what is kept stays in proportion to what was said and not to how finely it was streamed.

export interface EventQueueOptions<T> {
	/** From how many waiting items on adjacent ones are joined. Default 1,000. */
	readonly limit?: number;
	/** One item for two adjacent ones; undefined when they must stay apart. */
	join?(last: T, next: T): T | undefined;
}

export class EventQueue<T> implements AsyncIterableIterator<T> {
	readonly #limit: number;
	readonly #join: EventQueueOptions<T>["join"];
	#items: T[] = [];
	#head = 0;
	#waiting:
		| {
				resolve(result: IteratorResult<T>): void;
				reject(error: unknown): void;
				/** Settles with the waiting call; those that ask before it does stand in line behind it. */
				readonly promise: Promise<unknown>;
		  }
		| undefined;
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
			this.#waiting = undefined;
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

	/** No more items; with an error, iteration throws it after the last one. */
	end(end: { readonly error?: unknown } = {}): void {
		this.#end ??= end;
		const waiting = this.#waiting;
		if (waiting === undefined) return;
		this.#waiting = undefined;
		if ("error" in this.#end) waiting.reject(this.#end.error);
		else waiting.resolve({ value: undefined, done: true });
	}

	next(): Promise<IteratorResult<T>> {
		if (this.#head < this.#items.length) {
			const value = this.#items[this.#head] as T;
			this.#items[this.#head++] = undefined as T;
			if (this.#head === this.#items.length) {
				this.#items.length = 0;
				this.#head = 0;
			} else if (this.#head >= 1024 && this.#head * 2 >= this.#items.length) {
				this.#items = this.#items.slice(this.#head);
				this.#head = 0;
			}
			return Promise.resolve({ value, done: false });
		}
		if (this.#left) return Promise.resolve({ value: undefined, done: true });
		if (this.#end !== undefined) {
			const end = this.#end;
			this.#end = {};
			return "error" in end ? Promise.reject(end.error) : Promise.resolve({ value: undefined, done: true });
		}
		if (this.#waiting !== undefined) {
			const next = (): Promise<IteratorResult<T>> => this.next();
			return this.#waiting.promise.then(next, next);
		}
		const { promise, resolve, reject } = Promise.withResolvers<IteratorResult<T>>();
		this.#waiting = { resolve, reject, promise };
		return promise;
	}

	[Symbol.asyncIterator](): this {
		return this;
	}

	/** The consumer leaves; what comes later is dropped. */
	return(): Promise<IteratorResult<T>> {
		this.#left = true;
		this.#items = [];
		this.#head = 0;
		this.#waiting?.resolve({ value: undefined, done: true });
		this.#waiting = undefined;
		return Promise.resolve({ value: undefined, done: true });
	}
}
