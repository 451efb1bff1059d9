// How a round of tool calls ends, for whoever waits for it: a promise is made only where somebody has to wait.
import type { PendingCall } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";

export class RoundEnd {
	#end: { readonly pending: readonly PendingCall[] } | { readonly error: unknown } | undefined;
	/** Set where somebody waits for the end. */
	#waiting: PromiseWithResolvers<readonly PendingCall[]> | undefined;

	/** The calls that are left for somebody outside to settle; a promise until the end. Throws or rejects as the round failed. */
	get(): MaybePromise<readonly PendingCall[]> {
		if (this.#end === undefined) {
			this.#waiting ??= Promise.withResolvers();
			return this.#waiting.promise;
		}
		if ("error" in this.#end) throw this.#end.error;
		return this.#end.pending;
	}

	done(pending: readonly PendingCall[]): void {
		this.#end ??= { pending };
		this.#waiting?.resolve(pending);
	}

	failed(error: unknown): void {
		this.#end ??= { error };
		this.#waiting?.reject(error);
	}
}
