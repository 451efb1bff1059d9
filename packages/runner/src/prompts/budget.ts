// The cost limits of a template: its length and nesting when parsed, steps and characters when rendered. Rendering is
// synchronous and cannot be interrupted, so every engine charges its work here (keeps I7).
import { HoldfastError, readDuration } from "@holdfast/upp";

/** Limits of templates. */
export interface PromptLimits {
	/** Maximum length of a template in characters. Default: 100,000. A longer one is invalid. */
	readonly templateLength?: number;
	/** Maximum nesting of blocks. Default: 50. A template with deeper nesting is invalid. */
	readonly depth?: number;
	/**
	 * Maximum number of rendered parts of the template, counting each iteration, and of values in the parameters.
	 * Default: 250,000.
	 */
	readonly steps?: number;
	/** Maximum length of the rendered text in characters, including texts that are only computed. Default: 1,000,000. */
	readonly outputLength?: number;
	/** Milliseconds after which rendering of a Liquid template stops. Default: 2,000. */
	readonly renderMs?: number;
}

/** Returns the limits with their defaults. */
export function readLimits(limits: PromptLimits = {}): Required<PromptLimits> {
	return {
		templateLength: 100_000,
		depth: 50,
		steps: 250_000,
		outputLength: 1_000_000,
		...Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined)),
		renderMs: readDuration("renderMs", limits.renderMs, 2_000, { most: Number.POSITIVE_INFINITY }),
	};
}

/** The remaining budget of one rendering. */
export class Budget {
	readonly limits: Required<PromptLimits>;
	#steps = 0;
	#written = 0;

	constructor(limits: Required<PromptLimits>) {
		this.limits = limits;
	}

	/** @throws PROMPT_LIMIT if there were too many steps. */
	step(count: number = 1): void {
		this.#steps += count;
		if (this.#steps > this.limits.steps) throw limitExceeded(`takes more than ${this.limits.steps} steps`);
	}

	/** Charges a text and returns it. @throws PROMPT_LIMIT if too much was written. */
	write(text: string): string {
		this.#written += text.length;
		if (this.#written > this.limits.outputLength)
			throw limitExceeded(`writes more than ${this.limits.outputLength} characters`);
		return text;
	}
}

export function limitExceeded(what: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"PROMPT_LIMIT",
		`Rendering the template ${what}. Shorten its loops and parameters, or raise \`limits\`.`,
		cause === undefined ? {} : { cause },
	);
}
