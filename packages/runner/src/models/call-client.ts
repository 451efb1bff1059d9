// One call of one client: streamed if possible, with a time limit, and validated before it is used.

import { HoldfastError } from "@holdfast/upp";
import type { Timers } from "holdfast/host";
import type {
	CallUsage,
	ChatMessage,
	LLMClient,
	ModelCallOptions,
	ModelResponse,
} from "../contract/index.ts";

/** The context of a call. */
export interface ClientCall {
	readonly client: LLMClient;
	readonly messages: readonly ChatMessage[];
	readonly options: ModelCallOptions;
	/** Fires when the run is aborted. */
	readonly signal: AbortSignal;
	/** Time limit in milliseconds. Default: no limit. */
	readonly timeoutMs?: number | undefined;
	readonly timers: Timers;
	readonly streams: boolean;
	/** Receives each piece during the call. */
	onTokens(text: string): void;
}

/** Rejects with the client's error, with `MODEL_TIMEOUT`, or with the reason of the signal. */
export async function callClient(call: ClientCall): Promise<ModelResponse> {
	const { signal, timeoutMs, timers } = call;
	signal.throwIfAborted();
	const controller = new AbortController();
	let callOff: (() => void) | undefined;
	let isOver = false;
	const { promise: cut, reject } = Promise.withResolvers<never>();
	cut.catch(() => {});
	const abort = (): void => {
		reject(signal.reason);
		controller.abort(signal.reason);
	};
	signal.addEventListener("abort", abort, { once: true });
	if (timeoutMs !== undefined) {
		callOff = timers.after(timeoutMs, () => {
			const error = timedOut(timeoutMs);
			reject(error);
			controller.abort(error);
		});
	}
	const hears = (text: string): void => {
		if (!isOver && text !== "") call.onTokens(text);
	};
	try {
		return await Promise.race([ask(call, controller.signal, hears), cut]);
	} finally {
		isOver = true;
		callOff?.();
		signal.removeEventListener("abort", abort);
		// Cancels a stream that has lost its reader.
		controller.abort();
	}
}

async function ask(
	{ client, messages, options, streams }: ClientCall,
	signal: AbortSignal,
	onTokens: (text: string) => void,
): Promise<ModelResponse> {
	const given = { ...options, signal };
	if (!streams || client.stream === undefined) {
		const response = readResponse(await client.call(messages, given));
		onTokens(response.text);
		return response;
	}
	let text = "";
	let usage: CallUsage | undefined;
	let model: string | undefined;
	for await (const chunk of client.stream(messages, given)) {
		if (typeof chunk?.text !== "string") throw invalid("a chunk without `text`");
		text += chunk.text;
		usage = readUsage(chunk.usage) ?? usage;
		model = chunk.model ?? model;
		onTokens(chunk.text);
		signal.throwIfAborted();
	}
	return { text, ...(usage === undefined ? {} : { usage }), ...(model === undefined ? {} : { model }) };
}

function readResponse(response: ModelResponse): ModelResponse {
	if (typeof response?.text !== "string") throw invalid("a response without `text`");
	const { text, model, finishReason } = response;
	const usage = readUsage(response.usage);
	return {
		text,
		...(typeof model === "string" ? { model } : {}),
		...(usage === undefined ? {} : { usage }),
		...(typeof finishReason === "string" ? { finishReason } : {}),
	};
}

function readUsage(usage: CallUsage | undefined): CallUsage | undefined {
	if (usage === undefined || usage === null) return undefined;
	const { inputTokens, outputTokens } = usage;
	const isCount = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0;
	return isCount(inputTokens) && isCount(outputTokens) ? { inputTokens, outputTokens } : undefined;
}

function invalid(what: string): HoldfastError {
	return new HoldfastError("MODEL_RESPONSE_INVALID", `The model's client returned ${what}.`);
}

function timedOut(timeoutMs: number): HoldfastError {
	return new HoldfastError("MODEL_TIMEOUT", `The model took longer than ${timeoutMs} ms.`, {
		retryable: true,
	});
}
