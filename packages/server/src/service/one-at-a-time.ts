// Work of one kind under names: what has the same name is done one after the other, in the order in which it came.
export class OneAtATime {
	readonly #last = new Map<string, Promise<unknown>>();

	/** Does the work when all work of that name that came before is over. */
	do<T>(name: string, work: () => Promise<T>): Promise<T> {
		const before = this.#last.get(name);
		const done = before === undefined ? work() : before.then(work);
		const over = done
			.catch(() => {})
			.then(() => {
				if (this.#last.get(name) === over) this.#last.delete(name);
			});
		this.#last.set(name, over);
		return done;
	}
}
