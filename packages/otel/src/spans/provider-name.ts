// The provider of a model, as named in the GenAI conventions. The journal only contains the model's id, so it is a guess.

const known: readonly (readonly [RegExp, string])[] = [
	[/^(?:gpt|chatgpt|o\d|codex)/, "openai"],
	[/^claude/, "anthropic"],
	[/^(?:gemini|gemma)/, "gcp.gemini"],
	[/^(?:mistral|ministral|magistral|codestral|pixtral)/, "mistral_ai"],
	[/^grok/, "x_ai"],
	[/^deepseek/, "deepseek"],
	[/^command/, "cohere"],
	[/^sonar/, "perplexity"],
];

/**
 * Returns `other` if the id is unknown. For an id such as `anthropic/claude-…` or `openai:gpt-…`, the last part decides.
 */
export function providerOf(modelId: string): string {
	const name = modelId.slice(Math.max(modelId.lastIndexOf("/"), modelId.lastIndexOf(":")) + 1).toLowerCase();
	return known.find(([start]) => start.test(name) || start.test(modelId))?.[1] ?? "other";
}
