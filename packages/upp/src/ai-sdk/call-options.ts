// Converts a request to the AI SDK's call options: parameters that the SDK supports, and provider options for the
// others.

import { hasCachedPart, type LLMRequest } from "../model/index.ts";
import { wellFormed } from "../text/index.ts";
import { answerSchema, isClosedSchema, wireToolName } from "../wire/index.ts";
import { dialectOf } from "./dialect.ts";
import type { AISDKMetadata, CallOptions, LanguageModel } from "./language-model-types.ts";
import { hasOwnBreakpoint, toPrompt } from "./prompt.ts";
import { applyPromptCache } from "./prompt-cache.ts";
import { wireTools } from "./wire-tools.ts";

const names: Readonly<Record<string, keyof CallOptions>> = {
	temperature: "temperature",
	maxOutputTokens: "maxOutputTokens",
	maxTokens: "maxOutputTokens",
	max_tokens: "maxOutputTokens",
	max_output_tokens: "maxOutputTokens",
	max_completion_tokens: "maxOutputTokens",
	topP: "topP",
	top_p: "topP",
	topK: "topK",
	top_k: "topK",
	stop: "stopSequences",
	stopSequences: "stopSequences",
	stop_sequences: "stopSequences",
	presencePenalty: "presencePenalty",
	presence_penalty: "presencePenalty",
	frequencyPenalty: "frequencyPenalty",
	frequency_penalty: "frequencyPenalty",
	seed: "seed",
	reasoning: "reasoning",
	toolChoice: "toolChoice",
	tool_choice: "toolChoice",
	headers: "headers",
	providerOptions: "providerOptions",
	includeRawChunks: "includeRawChunks",
};

/**
 * Returns the call options for a request. Parameters that the SDK does not support are passed to the provider under its
 * name.
 */
export function toCallOptions(request: LLMRequest, model: LanguageModel, signal: AbortSignal): CallOptions {
	const dialect = dialectOf(model);
	const options: CallOptions = {
		prompt: toPrompt(request.messages, request.systemParts ?? request.system, dialect),
		abortSignal: signal,
	};
	if (request.params !== undefined) applyParams(options, request.params, model.provider);
	if (request.config?.headers !== undefined) {
		options.headers = { ...request.config.headers, ...options.headers };
	}
	const { tools, hasBreakpoints } = wireTools(request.tools, dialect);
	if (tools.length > 0) {
		options.tools = tools;
		options.toolChoice ??= { type: "auto" };
	}
	if (request.structure !== undefined) {
		const { title, description } = request.structure;
		const schema = wellFormed(answerSchema(request.structure));
		if (asksStrictly.test(model.provider) && !isClosedSchema(schema))
			addOptions(options, model.provider, { strictJsonSchema: false });
		options.responseFormat = {
			type: "json",
			schema,
			...(typeof title === "string" && /^[\w-]{1,64}$/.test(title) ? { name: title } : {}),
			...(typeof description === "string" ? { description } : {}),
		};
	}
	if (request.cache !== undefined || hasCachedPart(request.systemParts)) {
		const hasOwn = hasOwnBreakpoint(options.prompt) || hasBreakpoints;
		applyPromptCache(options, request.cache ?? {}, model.provider, hasOwn);
	}
	return options;
}

function applyParams(options: CallOptions, params: Record<string, unknown>, provider: string): void {
	const unknown: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(params)) {
		if (value === undefined) continue;
		const known = Object.hasOwn(names, name) ? names[name] : undefined;
		if (known === undefined) unknown[name] = value;
		else Object.assign(options, { [known]: value });
	}
	if (typeof options.stopSequences === "string") options.stopSequences = [options.stopSequences];
	if (options.toolChoice !== undefined) options.toolChoice = toToolChoice(options.toolChoice);
	if (Object.keys(unknown).length > 0) addOptions(options, provider, unknown);
}

/** Models of these providers request strict answers by default. */
const asksStrictly = /^(?:openai|azure|groq)\b/;

/** Adds options for the model's own provider. Options that were already given take precedence. */
function addOptions(options: CallOptions, provider: string, added: Record<string, unknown>): void {
	const given: AISDKMetadata = options.providerOptions ?? {};
	const name = provider.split(".")[0] ?? provider;
	options.providerOptions = wellFormed({ ...given, [name]: { ...added, ...given[name] } });
}

function toToolChoice(given: unknown): NonNullable<CallOptions["toolChoice"]> {
	if (given === "any") return { type: "required" };
	if (given === "auto" || given === "none" || given === "required") return { type: given };
	if (typeof given === "string") return { type: "tool", toolName: wireToolName(given) };
	const choice = given as { type?: string; toolName?: string; name?: string; function?: { name?: string } };
	const toolName = choice.toolName ?? choice.name ?? choice.function?.name;
	return toolName === undefined
		? toToolChoice(choice.type ?? "auto")
		: { type: "tool", toolName: wireToolName(toolName) };
}
