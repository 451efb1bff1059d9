// Determines which providers can serve a call, and in which order they are tried.
import type { ChatMessage, ModelRequest, ScoreProvider } from "../contract/index.ts";
import type { KnownProvider } from "./read-provider.ts";

/** A capability that a provider lacks for a request. */
export interface Unmet {
	readonly id: string;
	readonly unmet: "model" | "modality" | "maxTokens" | "cost" | "score";
}

/** Providers to try, in order, and the missing capabilities of the others. */
export interface Selection {
	readonly candidates: readonly KnownProvider[];
	readonly unmet: readonly Unmet[];
}

export async function selectProviders(
	providers: readonly KnownProvider[],
	request: ModelRequest,
	score: ScoreProvider | undefined,
): Promise<Selection> {
	const unmet: Unmet[] = [];
	const scored: { readonly provider: KnownProvider; readonly score: number }[] = [];
	for (const provider of providers) {
		const lacks = await lackOf(provider, request);
		const value = lacks === undefined && score !== undefined ? score(provider.given, request) : 0;
		const why = lacks ?? (Number.isNaN(value) || value === Number.NEGATIVE_INFINITY ? "score" : undefined);
		if (why === undefined) scored.push({ provider, score: value });
		else unmet.push({ id: provider.id, unmet: why });
	}
	const compare = (a: number, b: number): number => (a === b ? 0 : a > b ? -1 : 1);
	const candidates = scored
		.toSorted((a, b) => compare(a.score, b.score) || compare(a.provider.priority, b.provider.priority))
		.map(({ provider }) => provider);
	return { candidates, unmet };
}

/** Finds a capability that a provider lacks. A capability that is not advertised counts as missing. */
async function lackOf(provider: KnownProvider, request: ModelRequest): Promise<Unmet["unmet"] | undefined> {
	const { given, price } = provider;
	const info = await provider.info();
	const models = given.models ?? (info?.name === undefined ? [] : [info.name]);
	if (request.model !== undefined && !models.includes(request.model)) return "model";
	const modality = request.modality ?? (hasImage(request.messages) ? "image" : "text");
	if (!(given.modalities ?? ["text"]).includes(modality)) return "modality";
	const limit = given.maxTokens ?? info?.maxTokens;
	if (request.maxTokens !== undefined && !(limit !== undefined && limit >= request.maxTokens))
		return "maxTokens";
	if (request.costCeiling === undefined) return undefined;
	const outputTokens = request.maxTokens ?? limit ?? 0;
	if (price === undefined) return "cost";
	const cost = costOf(price, { inputTokens: estimateTokens(request.messages), outputTokens });
	return cost <= request.costCeiling ? undefined : "cost";
}

function hasImage(messages: readonly ChatMessage[]): boolean {
	return messages.some(
		({ content }) => typeof content !== "string" && content.some(({ type }) => type === "image"),
	);
}

/** Returns US dollars. */
export function costOf(
	price: { readonly input: number; readonly output: number },
	{ inputTokens, outputTokens }: { readonly inputTokens: number; readonly outputTokens: number },
): number {
	return (inputTokens * price.input + outputTokens * price.output) / 1_000_000;
}

/** Estimates the number of tokens of a text or a prompt. */
export function estimateTokens(given: string | readonly ChatMessage[]): number {
	if (typeof given === "string") return Math.ceil(given.length / 4);
	let characters = 0;
	for (const { content } of given) {
		if (typeof content === "string") characters += content.length;
		else for (const part of content) characters += part.type === "text" ? part.text.length : 1_000;
	}
	return Math.ceil(characters / 4);
}
