// The stages around one run: `before` in list order, then the run, then `after` in reverse. On failure, `onError` is
// asked in reverse order until one returns a result, which continues outwards like any other. Each function is called at
// most once. States: outside → entering (each `before` lets the run in) → inside → leaving (each `after` lets it out) →
// over. A resumed run starts inside.
import type { GenerateResult } from "../state/index.ts";
import type { Stages } from "./interceptor.ts";
import type { ChangedContext, RunContext } from "./policy-run.ts";

/** The functions around a run. */
export interface Around extends Pick<Stages, "before" | "after" | "onError"> {
	readonly name?: string;
}

export class AroundRun {
	readonly #list: readonly Around[];
	/** How many stages the run has entered and not yet left. */
	#entered: number;
	/** The context after the `before` stages so far. */
	context: RunContext;

	constructor(list: readonly Around[], context: RunContext, from: "outside" | "inside" = "outside") {
		this.#list = list;
		this.context = context;
		this.#entered = from === "inside" ? list.length : 0;
	}

	/** Calls each `before`. Rejects with the error of the first that throws. */
	async enter(): Promise<void> {
		for (const each of this.#list) {
			const returned = await each.before?.(this.context);
			if (returned) this.context = follow(this.context, returned);
			this.#entered++;
		}
	}

	/** Returns the caller's result of a completed run. */
	async completed(given: GenerateResult): Promise<GenerateResult> {
		let result = given;
		while (this.#entered > 0) {
			this.#entered--;
			try {
				result = (await this.#list[this.#entered]?.after?.(this.context, result)) ?? result;
			} catch (error) {
				result = await this.#afterError(this.#entered, error);
			}
		}
		return result;
	}

	/** Returns the caller's result of a failed run. Rejects with its error, unless an `onError` returned a result. */
	async failed(error: unknown): Promise<GenerateResult> {
		// Stages that the run did not reach are asked as well: an error handler may be anywhere in the list.
		return this.completed(await this.#afterError(this.#list.length, error));
	}

	/** Returns the first result for an error from the stages before `end`, asked from the last to the first. */
	async #afterError(end: number, error: unknown): Promise<GenerateResult> {
		const said = error instanceof Error ? error : new Error(String(error), { cause: error });
		for (let at = end - 1; at >= 0; at--) {
			try {
				const result = await this.#list[at]?.onError?.(this.context, said);
				if (!result) continue;
				this.#entered = Math.min(this.#entered, at);
				return result;
			} catch {
				// Only the first error is reported.
			}
		}
		throw error;
	}
}

/**
 * Runs a function with the stages around it. If there are none, `execute` is called at once.
 *
 * Rejects with the error of `execute`, a `before` or an `after`, unless an `onError` returned a result.
 */
export function aroundRun(
	list: readonly Around[],
	context: RunContext,
	execute: (context: RunContext) => Promise<GenerateResult>,
): Promise<GenerateResult> {
	return list.length === 0 ? execute(context) : throughAll(new AroundRun(list, context), execute);
}

async function throughAll(
	around: AroundRun,
	execute: (context: RunContext) => Promise<GenerateResult>,
): Promise<GenerateResult> {
	let result: GenerateResult;
	try {
		await around.enter();
		result = await execute(around.context);
	} catch (error) {
		return around.failed(error);
	}
	return around.completed(result);
}

/** Applies the context that a `before` returned. The metadata remains the one shared object. */
function follow(context: RunContext, returned: ChangedContext): RunContext {
	const { metadata } = context;
	if (returned.metadata !== undefined && returned.metadata !== metadata) {
		Object.assign(metadata, returned.metadata);
	}
	return { ...context, ...returned, metadata };
}
