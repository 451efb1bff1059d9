/**
 * The offline model, which implements the model port: it reads the messages of a request, and answers with tool calls or
 * streamed text. It keeps no state between calls, so a resumed run continues where it stopped.
 */
import {
	AssistantMessage,
	type BoundLLMModel,
	createProvider,
	emptyUsage,
	type LLMRequest,
	type LLMResponse,
	type LLMStreamResult,
	type ModelReference,
	type Provider,
	type StreamEvent,
	UPPError,
} from "@holdfast/upp";
import { composeAnswer } from "./answer.ts";
import { nextCalls } from "./lookup.ts";
import { answerFromText } from "./pasted.ts";
import { readQuestion } from "./question.ts";
import { readTranscript } from "./read-transcript.ts";

/** Rounds of lookups before it must answer. */
const ROUNDS = 8;
const NEEDED_TOOLS = ["list_files", "search_text", "read_file"];
/** The model's description of itself, at the end of every answer. */
const SELF_DESCRIPTION =
	"(offline: passages extracted by search, no language model; set --model for a real one)";

const provider: Provider<undefined> = createProvider({
	name: "offline",
	version: "1",
	modalities: { llm: { bind: bindOfflineModel } },
});

/** The offline model: answers from files by retrieval, without a language model, a network or a key. */
export const offline: ModelReference = provider("offline");

function bindOfflineModel(modelId: string): BoundLLMModel {
	const never = { structuredOutput: false, imageInput: false, videoInput: false, audioInput: false };
	const capabilities = { streaming: true, tools: true, ...never };
	return { modelId, capabilities, complete: async (request) => respond(request), stream };
}

/** Makes lookups or answers. The same request always produces the same response. */
function respond({ messages, tools = [], structure, signal }: LLMRequest): LLMResponse {
	if (signal?.aborted === true)
		throw new UPPError("The call was cancelled.", "CANCELLED", "offline", "llm", undefined, signal.reason);
	if (structure !== undefined)
		throw new UPPError("The offline model answers in text only.", "INVALID_REQUEST", "offline", "llm");
	const say = (text: string): LLMResponse => {
		const message = new AssistantMessage(`${text}\n\n${SELF_DESCRIPTION}`);
		return { message, usage: emptyUsage(), stopReason: "stop" };
	};
	const transcript = readTranscript(messages);
	if (transcript.pasted !== undefined) {
		const { question, pasted } = transcript;
		const answer = answerFromText(pasted, question, readQuestion(question, []));
		if (answer !== undefined) return say(answer);
	}
	if (!NEEDED_TOOLS.every((name) => tools.some((tool) => tool.name === name)))
		return say(
			`I can only answer from files, and the tools ${NEEDED_TOOLS.join(", ")} were not given to me.`,
		);
	const question = readQuestion(transcript.question, [...transcript.files.keys()]);
	const calls = transcript.rounds < ROUNDS ? nextCalls(transcript, question) : [];
	if (calls.length === 0) return say(composeAnswer(transcript, question));
	const toolCalls = calls.map(({ name, params }, index) => {
		// The number of the message makes the id unique in a conversation, and stable when the request is repeated.
		return { toolCallId: `offline-${messages.length}-${index + 1}`, toolName: name, arguments: params };
	});
	return { message: new AssistantMessage([], toolCalls), usage: emptyUsage(), stopReason: "tool_calls" };
}

function stream(request: LLMRequest): LLMStreamResult {
	// Wait one turn of the event loop, so that the caller can start to listen.
	const response = new Promise<void>((resolve) => setImmediate(resolve)).then(() => respond(request));
	// A caller that only iterates receives the error there.
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
	// Line by line: small enough to read along, large enough to be cheap.
	for (const text of message.text.match(/[^\n]*\n|[^\n]+$/g) ?? [])
		yield { type: "text_delta", index: 0, delta: { text } };
	for (const [index, { toolCallId, toolName, ...call }] of (message.toolCalls ?? []).entries()) {
		const argumentsJson = JSON.stringify(call.arguments);
		yield { type: "tool_call_delta", index, delta: { toolCallId, toolName, argumentsJson } };
	}
	yield { type: "message_stop", index: 0, delta: {} };
}
