/** Merges several sources in order of arrival until all have ended. More can be added at any time. */
export class Merged<T> implements AsyncIterable<T> {
	#waiting: T[] = [];
	#sources = 0;
	#failure: { readonly error: unknown } | undefined;
	#wake = (): void => {};

	add(source: AsyncIterable<T>): void {
		this.#sources++;
		void this.#drain(source);
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
		for (;;) {
			while (this.#waiting.length > 0) {
				const waiting = this.#waiting;
				this.#waiting = [];
				yield* waiting;
			}
			if (this.#failure !== undefined) throw this.#failure.error;
			if (this.#sources === 0) return;
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
	}

	async #drain(source: AsyncIterable<T>): Promise<void> {
		try {
			for await (const each of source) {
				this.#waiting.push(each);
				this.#wake();
			}
		} catch (error) {
			this.#failure ??= { error };
		}
		this.#sources--;
		this.#wake();
	}
}
