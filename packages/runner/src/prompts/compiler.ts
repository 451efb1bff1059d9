// A cache of parsed texts, so that a template that is rendered in every step is parsed once.
import type { PromptEngine } from "../contract/index.ts";
import type { PromptLimits } from "./budget.ts";
import { isPromptEngine, loadEngine } from "./engines.ts";
import type { CompileOutcome } from "./template-engine.ts";

/** Maximum number of characters of all cached texts together. */
const keptLength = 200_000;

export class Compiler {
	readonly #limits: Required<PromptLimits>;
	/** Most recently used last. */
	readonly #kept = new Map<string, CompileOutcome>();
	#length = 0;

	constructor(limits: Required<PromptLimits>) {
		this.#limits = limits;
	}

	/** @throws PROMPT_ENGINE_MISSING; problems of the text are part of the return value. */
	async compile(text: unknown, engine: PromptEngine): Promise<CompileOutcome> {
		if (!isPromptEngine(engine)) return { problems: [`there is no engine ${JSON.stringify(engine)}`] };
		if (typeof text !== "string") return { problems: ["the template is not a string"] };
		const { templateLength } = this.#limits;
		if (text.length > templateLength)
			return { problems: [`the template has ${text.length} characters; the limit is ${templateLength}`] };
		const loaded = await loadEngine(engine);
		const key = `${engine}:${text}`;
		const outcome = this.#kept.get(key) ?? loaded.compile(text, this.#limits);
		this.#keep(key, outcome);
		return outcome;
	}

	#keep(key: string, outcome: CompileOutcome): void {
		if (!this.#kept.delete(key)) this.#length += key.length;
		this.#kept.set(key, outcome);
		for (const oldest of this.#kept.keys()) {
			if (this.#length <= keptLength) return;
			this.#kept.delete(oldest);
			this.#length -= oldest.length;
		}
	}
}
