// A model with scripted answers: deterministic and streaming. It records its requests.
import {
	AssistantMessage,
	createProvider,
	type LLMRequest,
	type LLMResponse,
	type LLMStreamResult,
	type ModelReference,
	type PromptCacheControl,
	type ReasoningBlock,
	type StreamEvent,
	type TextBlock,
	type TokenUsage,
	type ToolCall,
	UPPError,
} from "@holdfast/upp";
import { SimulatedPromptCache } from "./prompt-cache.ts";

/** A tool call of a scripted reply. */
export interface ScriptedCall {
	/** The tool to call. */
	readonly name: string;
	/** Default: `{}`. */
	readonly arguments?: Record<string, unknown>;
	/** Default: `call_<reply>_<position>`, so that ids are the same in every run. */
	readonly id?: string;
	/** Ids of calls of this reply that must settle first. Default: none. */
	readonly after?: string[];
}

/** One reply of a scripted model. */
export interface ScriptedReply {
	/** The reasoning before the text. Default: none. */
	readonly reasoning?: string;
	/** The text of the answer. Default: none. */
	readonly text?: string;
	/** The tool calls of the answer. Default: none. */
	readonly toolCalls?: readonly ScriptedCall[];
	/** Parsed structured output. */
	readonly data?: unknown;
	/** Default: 10 input and 5 output tokens. */
	readonly usage?: TokenUsage;
	/** Default: `tool_calls` for a reply with calls, otherwise `stop`. */
	readonly stopReason?: LLMResponse["stopReason"];
	/** Thrown after everything else was streamed. */
	readonly error?: Error;
	/** Awaited before the reply starts, unless the request is aborted. */
	readonly gate?: Promise<unknown>;
	/** Awaited before each text delta, with its number from 0, unless the request is aborted. */
	readonly beforeDelta?: (number: number) => unknown;
	/** The number of text deltas. Default: one per word. */
	readonly deltas?: number;
}

/** Replies in order, or a function of the request and the number of the call, from 0. */
export type Script =
	| readonly (string | ScriptedReply)[]
	| ((request: LLMRequest, call: number) => string | ScriptedReply | Promise<string | ScriptedReply>);

/** The options of a scripted model. */
export interface ScriptedModelOptions {
	/** Default: `scripted`. */
	readonly modelId?: string;
	/**
	 * Simulates the prompt cache of a provider with this kind of control. The usage of replies without their own then
	 * shows how many tokens were read from the cache and written to it. Default: no cache.
	 */
	readonly promptCache?: PromptCacheControl;
}

/** A reference to a scripted model. */
export interface ScriptedModel extends ModelReference {
	/** The received requests, in order. */
	readonly requests: readonly LLMRequest[];
}

/** Called with each request of each scripted model of this process. For the tests of this repository. */
export const requestObservers: Set<(request: LLMRequest) => void> = new Set();

/**
 * Creates a model that follows a script. A call after the end of a list fails with UPPError INVALID_REQUEST.
 *
 * @example
 * ```ts
 * import { agent } from "holdfast";
 * import { scriptedModel } from "@holdfast/testing";
 *
 * const model = scriptedModel([{ toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] }, "It is 3."]);
 * const add = { name: "add", description: "Adds.", parameters: { type: "object" }, run: ({ a, b }: { a: number; b: number }) => a + b };
 * const turn = await agent({ model, tools: [add] }).query("1 + 2?");
 * console.log(turn.response.text); // It is 3.
 * ```
 */
export function scriptedModel(script: Script, options: ScriptedModelOptions = {}): ScriptedModel {
	const cache = options.promptCache === undefined ? undefined : new SimulatedPromptCache(options.promptCache);
	const requests: LLMRequest[] = [];
	const reply = async (request: LLMRequest): Promise<ScriptedReply & { readonly number: number }> => {
		const number = requests.push(request) - 1;
		for (const observe of requestObservers) observe(request);
		const found = typeof script === "function" ? await script(request, number) : script[number];
		if (found === undefined) {
			throw new UPPError(`The script ends after ${number} replies.`, "INVALID_REQUEST", "scripted", "llm");
		}
		const scripted: ScriptedReply = typeof found === "string" ? { text: found } : found;
		if (scripted.gate !== undefined) await untilAborted(scripted.gate, request.signal);
		if (cache === undefined || scripted.usage !== undefined) return { ...scripted, number };
		const { inputTokens, ...cached } = cache.count(request);
		const usage = { inputTokens, outputTokens: 5, totalTokens: inputTokens + 5, ...cached };
		return { ...scripted, number, usage };
	};
	const provider = createProvider({
		name: "scripted",
		version: "1",
		modalities: {
			llm: {
				bind: (modelId: string) => ({
					modelId,
					capabilities: {
						streaming: true,
						tools: true,
						structuredOutput: true,
						imageInput: true,
						videoInput: true,
						audioInput: true,
						...(options.promptCache === undefined ? {} : { promptCache: options.promptCache }),
					},
					complete: async (request: LLMRequest) => {
						const scripted = await reply(request);
						if (scripted.error !== undefined) throw scripted.error;
						return responseOf(scripted, scripted.number);
					},
					stream: (request: LLMRequest) => streamOf(reply(request), request),
				}),
			},
		},
	});
	return Object.assign(provider(options.modelId ?? "scripted"), { requests });
}

function streamOf(
	replying: Promise<ScriptedReply & { readonly number: number }>,
	{ signal, structure }: LLMRequest,
): LLMStreamResult {
	let settle!: { resolve(response: LLMResponse): void; reject(error: unknown): void };
	const response = new Promise<LLMResponse>((resolve, reject) => {
		settle = { resolve, reject };
	});
	response.catch(() => {}); // A caller that iterates receives the error there.
	async function* events(): AsyncGenerator<StreamEvent, void, void> {
		try {
			const scripted = await replying;
			let deltas = 0;
			// A reply that only has an error fails like a request: before anything is emitted.
			if (scripted.error !== undefined && saysNothing(scripted)) throw scripted.error;
			const textEvent = structure === undefined ? "text_delta" : "object_delta";
			for (const event of eventsOf(scripted, scripted.number, textEvent)) {
				signal?.throwIfAborted();
				if (event.type === textEvent && scripted.beforeDelta !== undefined)
					await untilAborted(Promise.resolve(scripted.beforeDelta(deltas++)), signal);
				yield event;
			}
			if (scripted.error !== undefined) throw scripted.error;
			settle.resolve(responseOf(scripted, scripted.number));
		} catch (error) {
			settle.reject(error);
			throw error;
		}
	}
	return { response, [Symbol.asyncIterator]: events };
}

function saysNothing({ reasoning, text, toolCalls }: ScriptedReply): boolean {
	return reasoning === undefined && text === undefined && toolCalls === undefined;
}

function* eventsOf(
	reply: ScriptedReply,
	number: number,
	textEvent: "text_delta" | "object_delta",
): Generator<StreamEvent, void, void> {
	let index = 0;
	yield { type: "message_start", index: 0, delta: {} };
	for (const [type, text] of [
		["reasoning_delta", reply.reasoning],
		[textEvent, reply.text],
	] as const) {
		if (text === undefined) continue;
		yield { type: "content_block_start", index, delta: {} };
		for (const piece of pieces(text, reply.deltas)) yield { type, index, delta: { text: piece } };
		yield { type: "content_block_stop", index, delta: {} };
		index++;
	}
	for (const call of callsOf(reply, number)) {
		const argumentsJson = textOf(call.arguments);
		yield {
			type: "tool_call_delta",
			index,
			delta: { toolCallId: call.toolCallId, toolName: call.toolName, argumentsJson },
		};
		index++;
	}
	yield { type: "message_stop", index: 0, delta: {} };
}

/** Arguments nested too deeply to serialise are streamed without text; the answer contains them completely. */
function textOf(given: Readonly<Record<string, unknown>>): string {
	try {
		return JSON.stringify(given);
	} catch {
		return "";
	}
}

function responseOf(reply: ScriptedReply, number: number): LLMResponse {
	const content: (TextBlock | ReasoningBlock)[] = [];
	if (reply.reasoning !== undefined) content.push({ type: "reasoning", text: reply.reasoning });
	if (reply.text !== undefined) content.push({ type: "text", text: reply.text });
	const calls = callsOf(reply, number);
	return {
		message: new AssistantMessage(content, calls.length === 0 ? undefined : calls),
		usage: reply.usage ?? { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
		stopReason: reply.stopReason ?? (calls.length === 0 ? "stop" : "tool_calls"),
		...(reply.data === undefined ? {} : { data: reply.data }),
	};
}

function callsOf(reply: ScriptedReply, number: number): ToolCall[] {
	return (reply.toolCalls ?? []).map((call, position) => ({
		toolCallId: call.id ?? `call_${number}_${position}`,
		toolName: call.name,
		arguments: call.arguments ?? {},
		...(call.after === undefined ? {} : { after: call.after }),
	}));
}

function pieces(text: string, count: number | undefined): string[] {
	if (count === undefined) return text.split(/(?<=\S)(?=\s)/);
	const size = Math.max(1, Math.ceil(text.length / count));
	return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
		text.slice(at * size, (at + 1) * size),
	);
}

function untilAborted(gate: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
	if (signal === undefined) return gate;
	return new Promise((resolve, reject) => {
		const abort = (): void => reject(signal.reason);
		if (signal.aborted) abort();
		signal.addEventListener("abort", abort, { once: true });
		gate.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
	});
}
