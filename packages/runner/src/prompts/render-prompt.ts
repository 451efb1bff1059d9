// Renders a template with parameters: with the missing variables, the cost, and the number of tokens.
import type { Redactor } from "@holdfast/redaction";
import { cutText, HoldfastError, isHoldfastError, messageOf } from "@holdfast/upp";
import type { PromptTemplate, RenderedPrompt } from "../contract/index.ts";
import { Budget, limitExceeded, type PromptLimits } from "./budget.ts";
import { fieldAt, plainParams, textOf } from "./plain-params.ts";
import type { CompiledPrompt } from "./template-engine.ts";

/** What to render. */
export interface Rendering {
	readonly prompt: CompiledPrompt;
	readonly template: PromptTemplate;
	readonly params: Readonly<Record<string, unknown>>;
	readonly throwOnMissing: boolean | undefined;
}

/** The rendering options of a store. */
export interface RenderOptions {
	readonly redactor: Redactor;
	readonly limits: Required<PromptLimits>;
	readonly estimateTokens: (text: string) => number | Promise<number>;
}

/** @throws PROMPT_VAR_MISSING, PROMPT_LIMIT, PROMPT_RENDER_FAILED */
export async function renderPrompt(
	{ prompt, template, params: given, throwOnMissing }: Rendering,
	{ redactor, limits, estimateTokens }: RenderOptions,
): Promise<RenderedPrompt> {
	const { id, version, requiredVars = [] } = template;
	const budget = new Budget(limits);
	const params = plainParams(given, budget);
	const isMissing = (name: string): boolean => fieldAt(params, name) === undefined;
	const required = requiredVars.filter(isMissing);
	const missing = new Set([...required, ...prompt.references.filter(isMissing)]);
	const refuse = (names: Iterable<string>): void => {
		const data = { missing: [...new Set(names)] };
		if (data.missing.length === 0) return;
		throw new HoldfastError(
			"PROMPT_VAR_MISSING",
			`The template ${JSON.stringify(id)} lacks ${data.missing.join(", ")}. Give them in the parameters.`,
			{ data },
		);
	};
	if (throwOnMissing !== false) refuse(throwOnMissing === true ? missing : required);
	let text: string;
	try {
		text = prompt.render({
			params,
			budget,
			redact: (value) => redactedText(value, redactor, budget),
			missing: (name) => missing.add(name),
		});
	} catch (error) {
		throw renderError(id, error);
	}
	if (throwOnMissing === true) refuse(missing);
	return {
		text,
		meta: {
			tokensEstimate: await estimateTokens(text),
			...(missing.size === 0 ? {} : { missing: [...missing] }),
			version,
		},
	};
}

/** Lists and objects are masked string by string, so that the result is JSON. */
function redactedText(value: unknown, redactor: Redactor, budget: Budget): string {
	const text = budget.write(textOf(value));
	const isObject = typeof value === "object" && value !== null;
	return budget.write(textOf(redactor.redact(isObject ? JSON.parse(text) : text)));
}

function renderError(id: string, error: unknown): HoldfastError {
	if (isHoldfastError(error)) return error;
	// The stack or a string exceeded the platform's limit.
	if (error instanceof RangeError) return limitExceeded("needs more memory than is available", error);
	const why = messageOf(error);
	return new HoldfastError(
		"PROMPT_RENDER_FAILED",
		`The template ${JSON.stringify(id)} could not be rendered with these parameters: ${cutText(why, 500)}`,
		{ cause: error },
	);
}
