// The only path from a model with its options to a request, used by `llm()` and every engine.

import { HoldfastError, HoldfastTypeError } from "../errors/index.ts";
import type { JSONSchema, Message, ModelTool } from "../messages/index.ts";
import {
	type BoundLLMModel,
	checkedModel,
	hasCachedPart,
	type LLMRequest,
	type ProviderConfig,
	type RetryInfo,
	readSystem,
	type System,
	setSystem,
} from "../model/index.ts";
import { resolveModel } from "../providers/index.ts";
import { retryingModel, watchable, watchedModel } from "../retry/index.ts";
import { readDuration } from "../time/index.ts";
import type { LLMOptions } from "./llm-types.ts";

/** Settings that may differ from call to call. */
export interface RequestExtra {
	/** Cancels the call, which then fails with `CANCELLED`. */
	signal?: AbortSignal;
	/** Default: the tools of the options. */
	tools?: readonly ModelTool[];
	/** Default: the structure of the options. */
	structure?: JSONSchema;
	/** How to treat an answer that is not JSON although a structure requires it. Default: the call fails. */
	unparsed?: "keep";
	/** Default: the system prompt of the options. */
	system?: System;
	/** Called before each retry. Must not throw. Default: the function of the options. */
	onRetry?: (info: RetryInfo) => void;
}

type Messages = readonly Message[] | (() => readonly Message[]);

/** A model with its options, and how to build requests for it. */
export interface ModelBinding {
	/** The model that the requests are for. */
	readonly model: BoundLLMModel;
	/** Builds a request. Messages given as a function are computed once, when the model first reads them. */
	request(messages: Messages, extra?: RequestExtra): LLMRequest;
}

const optionNames: ReadonlySet<string> = new Set(["model", "toolStrategy"]);

/**
 * Resolves the model of the options and prepares what all its requests share.
 * @throws HoldfastError `invalid_model`, `provider_not_called`; `no_language_model` if the provider has none;
 * `invalid_option` for an invalid system prompt; `cache_unsupported` if a part of it has `cache` without effect.
 */
export function bindModel(options: LLMOptions): ModelBinding {
	const reference = resolveModel(options.model);
	const handler = reference.provider.modalities?.llm;
	if (handler === undefined) {
		throw new HoldfastError(
			"no_language_model",
			`The provider "${reference.provider.name}" offers no language models. Give a model of another provider.`,
		);
	}
	const { name } = reference.provider;
	// A model created by hand has not passed `createProvider`.
	const bound = checkedModel(handler.bind(reference.modelId, reference.options), name);
	const { config = {} } = options;
	checkLimits(config);
	const wrapped = config.retryStrategy !== undefined || config.timeout !== undefined;
	const model = wrapped ? retryingModel(bound, name) : watchedModel(bound, name);
	const isWatched = model !== bound && !wrapped;
	const shared: Record<string, unknown> = { config: {} };
	let ownSignal: AbortSignal | undefined;
	for (const [name, value] of Object.entries(options)) {
		if (name === "signal") ownSignal = value;
		else if (name === "system" && value !== undefined) {
			const system = readSystem(value, "system");
			checkCachedParts(system, bound);
			setSystem(shared as unknown as LLMRequest, system);
		} else if (!optionNames.has(name) && value !== undefined) shared[name] = value;
	}
	return {
		model,
		request(messages, extra) {
			const request = build(messages, shared);
			if (extra !== undefined) applyExtra(request, extra);
			const signal = extra?.signal ?? ownSignal;
			if (isWatched) return watchable(request, signal);
			if (signal !== undefined) request.signal = signal;
			return request;
		},
	};
}

/**
 * Checks that the provider of a model supports the breakpoints of a system prompt.
 * @throws HoldfastError `cache_unsupported`.
 */
export function checkCachedParts(system: System, { modelId, capabilities }: BoundLLMModel): void {
	if (!hasCachedPart(system) || capabilities.promptCache === "breakpoints") return;
	throw new HoldfastError(
		"cache_unsupported",
		`A part of the system prompt has \`cache\`, which has no effect: the provider of "${modelId}" has no breakpoints. Leave \`cache\` out.`,
		{ data: { modelId } },
	);
}

/** @throws HoldfastError `invalid_option`. */
function checkLimits({ timeout, silenceMs, maxAnswerCharacters = 1 }: ProviderConfig): void {
	const range = { most: Number.POSITIVE_INFINITY };
	readDuration("config.timeout", timeout, 1, range);
	readDuration("config.silenceMs", silenceMs, 1, range);
	if (maxAnswerCharacters > 0) return;
	throw new HoldfastTypeError(
		"invalid_option",
		`The option \`config.maxAnswerCharacters\` is ${String(maxAnswerCharacters)}. It must be a number above 0, or Infinity.`,
		{ data: { option: "config.maxAnswerCharacters" } },
	);
}

/** Omits the signal, which is added last. */
function build(messages: Messages, shared: object): LLMRequest {
	if (typeof messages !== "function") return { ...shared, messages } as LLMRequest;
	const request = { ...shared, [pending]: messages };
	return Object.defineProperty(request, "messages", lazyMessages) as unknown as LLMRequest;
}

function applyExtra(request: LLMRequest, extra: RequestExtra): void {
	if (extra.tools !== undefined) request.tools = extra.tools;
	if (extra.structure !== undefined) request.structure = extra.structure;
	if (extra.unparsed !== undefined) request.unparsed = extra.unparsed;
	if (extra.system !== undefined) setSystem(request, extra.system);
	if (extra.onRetry !== undefined) request.onRetry = extra.onRetry;
}

const pending = Symbol("messages");

/** One accessor for all requests: a separate one would create a hidden class per call. */
const lazyMessages: PropertyDescriptor & ThisType<{ [pending]: Messages }> = {
	get(): readonly Message[] {
		const messages = this[pending];
		if (typeof messages !== "function") return messages;
		const computed = messages();
		this[pending] = computed;
		return computed;
	},
	enumerable: true,
	configurable: true,
};
