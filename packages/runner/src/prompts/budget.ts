// The cost limits of a template: its length and nesting when parsed, steps and characters when rendered. Rendering is
// synchronous and cannot be interrupted, so every engine charges its work here (keeps I7).
import { HoldfastError, readDuration } from "@holdfast/upp";

/** Limits of templates. */
export interface PromptLimits {
	/** Characters of a template. Default: 100,000. A longer one is not valid. */
	readonly templateLength?: number;
	/** Blocks inside of blocks. Default: 50. A template with more is not valid. */
	readonly depth?: number;
	/** Parts of the template rendered, iterations counted each time, and values in the parameters. Default: 250,000. */
	readonly steps?: number;
	/** Characters of the rendered text, texts that are only computed included. Default: 1,000,000. */
	readonly outputLength?: number;
	/** Milliseconds after which a Liquid template is not rendered further. Default: 2,000. */
	readonly renderMs?: number;
}

/** Limits with their defaults. */
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

	/** @throws PROMPT_LIMIT where too much was done. */
	step(count: number = 1): void {
		this.#steps += count;
		if (this.#steps > this.limits.steps) throw limitExceeded(`takes more than ${this.limits.steps} steps`);
	}

	/** Charges a text and gives it back. @throws PROMPT_LIMIT where too much was written. */
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
