// Reads from the journal the events of an execution that were not buffered: for a consumer that comes late, or that reads
// more slowly than the execution runs after its result was requested. The last event is returned once the session shows
// its effect.
import type { ExecuteEvent } from "./execute-event.ts";
import type { LoggedEvent } from "./session-log.ts";

export class RestOfEvents {
	readonly #read: (signal: AbortSignal) => AsyncIterable<readonly LoggedEvent[]>;
	readonly #left = new AbortController();
	readonly #over = Promise.withResolvers<void>();
	#events: AsyncGenerator<ExecuteEvent, void, void> | undefined;
	/** Whether all stored events were read, so that none follow after a failure. */
	#isLive = false;
	#failure: { readonly error: unknown } | undefined;

	/** `read` returns the events up to the end of the execution, until the signal fires. */
	constructor(read: (signal: AbortSignal) => AsyncIterable<readonly LoggedEvent[]>) {
		this.#read = read;
	}

	next(): Promise<IteratorResult<ExecuteEvent, void>> {
		this.#events ??= this.#follow();
		return this.#events.next();
	}

	/** The execution has ended, and the session shows it. With an error, reading ends with that error. */
	isOver(end: { readonly error?: unknown }): void {
		if ("error" in end) this.#failure = { error: end.error };
		this.#over.resolve();
		if (this.#failure !== undefined && this.#isLive) this.#left.abort();
	}

	/** The consumer leaves. */
	leave(): void {
		this.#left.abort();
		this.#over.resolve();
	}

	async *#follow(): AsyncGenerator<ExecuteEvent, void, void> {
		for await (const events of this.#read(this.#left.signal)) {
			this.#isLive ||= events.length === 0;
			for (const { event } of events) {
				if (event.type === "execute_complete") return;
				if (event.type === "session_end" || event.type === "awaiting_tool_execution")
					await this.#over.promise;
				yield event;
			}
			if (this.#isLive && this.#failure !== undefined) break;
		}
		if (this.#failure !== undefined) throw this.#failure.error;
	}
}
