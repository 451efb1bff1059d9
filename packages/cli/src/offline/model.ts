/**
 * The offline model behind the port of every model: it reads the messages of a request, decides, and answers
 * with tool calls or streamed text. It keeps nothing between calls, so a resumed run goes on where it was.
 */
import {
	AssistantMessage,
	type BoundLLMModel,
	createProvider,
	type LLMRequest,
	type LLMResponse,
	type LLMStreamResult,
	type ModelReference,
	type Provider,
	type StreamEvent,
	type ToolCall,
	UPPError,
} from "@holdfast/upp";
import { decide } from "./decide.ts";
import { readTranscript } from "./transcript.ts";

/** The offline provider has one model. */
const provider: Provider<undefined> = createProvider({
	name: "offline",
	version: "1",
	modalities: { llm: { bind: bindOfflineModel } },
});

/** The offline model: answers from files by retrieval, without a language model, a network or a key. */
export const offline: ModelReference = provider("offline");

function bindOfflineModel(modelId: string): BoundLLMModel {
	return {
		modelId,
		capabilities: {
			streaming: true,
			tools: true,
			structuredOutput: false,
			imageInput: false,
			videoInput: false,
			audioInput: false,
		},
		complete: async (request) => respond(request),
		stream,
	};
}

function respond(request: LLMRequest): LLMResponse {
	if (request.signal?.aborted === true) throw cancelled(request.signal);
	if (request.structure !== undefined)
		throw new UPPError(
			"The offline model answers in text only; ask another model for structured output.",
			"INVALID_REQUEST",
			"offline",
			"llm",
		);
	const transcript = readTranscript(request.messages);
	const decision = decide(transcript, new Set((request.tools ?? []).map((tool) => tool.name)));
	if (decision.kind === "answer")
		return { message: new AssistantMessage(decision.text), usage: usage(), stopReason: "stop" };
	const toolCalls = decision.calls.map(
		(call, index): ToolCall => ({
			// The number of the message makes the id unique in a conversation, and the same when asked again.
			toolCallId: `offline-${request.messages.length}-${index + 1}`,
			toolName: call.name,
			arguments: call.params,
		}),
	);
	const message = new AssistantMessage([], toolCalls);
	return { message, usage: usage(), stopReason: "tool_calls" };
}

/** Nothing is counted because nothing is paid for: this model has no tokens. */
function usage(): LLMResponse["usage"] {
	return { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
}

function cancelled(signal: AbortSignal): UPPError {
	return new UPPError("The call was cancelled.", "CANCELLED", "offline", "llm", undefined, signal.reason);
}

function stream(request: LLMRequest): LLMStreamResult {
	// A turn of the loop passes first, so that whoever asked can start to listen.
	const response = new Promise<void>((resolve) => setImmediate(resolve)).then(() => respond(request));
	// Whoever only iterates sees the failure there.
	response.catch(() => {});
	return {
		response,
		async *[Symbol.asyncIterator]() {
			yield* events(await response);
		},
	};
}

function* events({ message }: LLMResponse): Generator<StreamEvent> {
	yield { type: "message_start", index: 0, delta: {} };
	let index = 0;
	if (message.text !== "") {
		yield { type: "content_block_start", index, delta: {} };
		// Line by line: small enough to watch, large enough to be cheap.
		for (const text of message.text.match(/[^\n]*\n|[^\n]+$/g) ?? [])
			yield { type: "text_delta", index, delta: { text } };
		yield { type: "content_block_stop", index, delta: {} };
		index++;
	}
	for (const call of message.toolCalls ?? [])
		yield {
			type: "tool_call_delta",
			index: index++,
			delta: {
				toolCallId: call.toolCallId,
				toolName: call.toolName,
				argumentsJson: JSON.stringify(call.arguments),
			},
		};
	yield { type: "message_stop", index: 0, delta: {} };
}
