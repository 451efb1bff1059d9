// A branch of code in execution: it numbers the calls of each name.
import { codeId } from "./code-record.ts";

/** A call that the code made and that is not recorded yet. */
export interface NewCall<Input> {
	readonly id: string;
	/** The kind of the call, such as `step` or `sleep`. */
	readonly does: string;
	/** The arguments of the call, for the code that performs it. The replayer neither reads nor records them. */
	readonly input: Input;
}

/** Accepts the calls of a branch. */
export interface AcceptsCalls<Input> {
	/** Returns the result of the call. */
	called(call: NewCall<Input>, history: CallHistory): Promise<unknown>;
}

/** `required`: every version of the code makes the call. `added`: earlier versions did not make it. */
export type CallHistory = "required" | "added";

export class Branch<Input> {
	readonly path: string;
	readonly #calls: AcceptsCalls<Input>;
	readonly #occurrences = new Map<string, number>();
	readonly #branches = new Map<string, number>();

	constructor(path: string, calls: AcceptsCalls<Input>) {
		this.path = path;
		this.#calls = calls;
	}

	/** Makes a call. Its promise settles with the recorded outcome, and never if the execution is left. */
	call(name: string, does: string, input: Input): Promise<unknown> {
		return this.begin(name, does, input).result;
	}

	/** Like `call`, for code that needs the id of the call before its outcome. */
	begin(
		name: string,
		does: string,
		input: Input,
	): { readonly id: string; readonly result: Promise<unknown> } {
		const id = this.#nextId(name);
		return { id, result: this.#calls.called({ id, does, input }, "required") };
	}

	/**
	 * Makes a call that earlier versions of the code did not make. Resolves to false where the record shows that an earlier
	 * version has passed this point.
	 */
	callIfNew(name: string, does: string, input: Input): Promise<unknown> {
		return this.#calls.called({ id: this.#nextId(name), does, input }, "added");
	}

	/** Returns a branch for code that runs concurrently. The order of its calls is independent of other branches. */
	branch(name: string): Branch<Input> {
		return new Branch(codeId(this.path, name, next(this.#branches, name)), this.#calls);
	}

	#nextId(name: string): string {
		return codeId(this.path, name, next(this.#occurrences, name));
	}
}

function next(counts: Map<string, number>, name: string): number {
	const count = (counts.get(name) ?? 0) + 1;
	counts.set(name, count);
	return count;
}
