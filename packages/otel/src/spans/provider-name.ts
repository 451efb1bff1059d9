// The provider of a model, as the GenAI conventions name it. The journal knows the model's id alone, so it is a guess.

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

/** `other` where the id does not say. An id such as `anthropic/claude-…` or `openai:gpt-…` is of what its last part says. */
export function providerOf(modelId: string): string {
	const name = modelId.slice(Math.max(modelId.lastIndexOf("/"), modelId.lastIndexOf(":")) + 1).toLowerCase();
	return known.find(([start]) => start.test(name) || start.test(modelId))?.[1] ?? "other";
}
