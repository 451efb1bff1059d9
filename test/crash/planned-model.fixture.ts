// A model that answers from what it is shown and from nothing else, so that it says the same after a restart. The
// user's message holds the plan: rounds of tool calls. What it was asked is written to a file before it answers.
import { appendFileSync } from "node:fs";
import {
	AssistantMessage,
	createProvider,
	type LLMRequest,
	type LLMResponse,
	type LLMStreamResult,
	type Message,
	type ModelReference,
	messageToJSON,
	type StreamEvent,
	type ToolCall,
	UPPError,
} from "@holdfast/upp";

/** What a user asks for: rounds of calls, each `tool:subject`. Calls of one round come in one answer. */
export interface Plan {
	readonly task: string;
	readonly rounds: readonly (readonly string[])[];
}

/** A request without ids of messages and times: what must be the same in a run that was cut off and one that was not. */
export interface SeenRequest {
	readonly system?: string;
	readonly tools: readonly string[];
	readonly messages: readonly SeenMessage[];
}

export interface SeenMessage {
	readonly type: string;
	readonly content: unknown;
	readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: unknown }[];
	readonly results?: readonly { readonly id: string; readonly result: unknown; readonly isError: boolean }[];
}

/**
 * Makes the model. `reach` gets each moment of an answer: asked, half said, said. With `busyMs` its provider asks to come
 * back after so many milliseconds, half way through an answer.
 */
export function plannedModel(
	requestsFile: string,
	reach: (moment: string) => void,
	busyMs?: number,
): ModelReference {
	const answer = (request: LLMRequest): LLMResponse => {
		const seen = see(request);
		appendFileSync(requestsFile, `${JSON.stringify(seen)}\n`);
		return respond(seen);
	};
	async function* events(response: LLMResponse, step: number): AsyncGenerator<StreamEvent, void, void> {
		const { text } = response.message;
		yield { type: "text_delta", index: 0, delta: { text: text.slice(0, 5) } };
		await new Promise((resolve) => setImmediate(resolve));
		reach(`model ${step} half said`);
		yield { type: "text_delta", index: 0, delta: { text: text.slice(5) } };
	}
	async function* cutOff(step: number): AsyncGenerator<StreamEvent, void, void> {
		yield { type: "text_delta", index: 0, delta: { text: "It is" } };
		reach(`model ${step} busy`);
		throw busy(busyMs);
	}
	const provider = createProvider({
		name: "planned",
		version: "1",
		modalities: {
			llm: {
				bind: (modelId: string) => ({
					modelId,
					capabilities: {
						streaming: true,
						tools: true,
						structuredOutput: false,
						imageInput: false,
						videoInput: false,
						audioInput: false,
					},
					complete: async (request: LLMRequest) => {
						if (busyMs !== undefined) throw busy(busyMs);
						return answer(request);
					},
					stream(request: LLMRequest): LLMStreamResult {
						const response = answer(request);
						const step = roundsDone(see(request)) + 1;
						reach(`model ${step} asked`);
						if (busyMs !== undefined) {
							const failed = Promise.reject(busy(busyMs));
							failed.catch(() => {});
							const pieces = cutOff(step);
							return { response: failed, [Symbol.asyncIterator]: () => pieces };
						}
						const iterable = events(response, step);
						return { response: Promise.resolve(response), [Symbol.asyncIterator]: () => iterable };
					},
				}),
			},
		},
	});
	return provider("planned-1");
}

function busy(retryAfterMs: number | undefined): UPPError {
	const error = new UPPError("Slow down.", "RATE_LIMITED", "planned", "llm", 429);
	return retryAfterMs === undefined ? error : Object.assign(error, { retryAfterMs });
}

function see(request: LLMRequest): SeenRequest {
	return {
		...(request.system === undefined ? {} : { system: request.system }),
		tools: (request.tools ?? []).map(({ name }) => name),
		messages: request.messages.map(seeMessage),
	};
}

function seeMessage(message: Message): SeenMessage {
	const json = messageToJSON(message) as unknown as {
		type: string;
		content?: unknown;
		toolCalls?: readonly ToolCall[];
		results?: readonly { toolCallId: string; result: unknown; isError?: boolean }[];
	};
	return {
		type: json.type,
		content: json.content ?? [],
		...(json.toolCalls === undefined
			? {}
			: {
					calls: json.toolCalls.map(({ toolCallId, toolName, arguments: input }) => ({
						id: toolCallId,
						name: toolName,
						input,
					})),
				}),
		...(json.results === undefined
			? {}
			: {
					results: json.results.map(({ toolCallId, result, isError }) => ({
						id: toolCallId,
						result,
						isError: isError === true,
					})),
				}),
	};
}

function roundsDone(request: SeenRequest): number {
	const asked = request.messages.findLastIndex(({ type }) => type === "user");
	return request.messages.slice(asked).filter(({ type }) => type === "tool_result").length;
}

function respond(request: SeenRequest): LLMResponse {
	const asked = request.messages.findLastIndex(({ type }) => type === "user");
	const content = request.messages[asked]?.content as readonly { text: string }[];
	const plan = JSON.parse(content[0]?.text ?? "") as Plan;
	const round = roundsDone(request);
	const calls = plan.rounds[round]?.map((call, index): ToolCall => {
		const [toolName = "", subject = ""] = call.split(":");
		return { toolCallId: `${plan.task}-${round + 1}-${index + 1}`, toolName, arguments: { subject } };
	});
	const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
	if (calls !== undefined) {
		const said = new AssistantMessage(`Round ${round + 1} of ${plan.task}.`, calls);
		return { message: said, usage, stopReason: "tool_calls" };
	}
	// What a call of unknown outcome gave is not in the answer, so that the answer is the same with and without a crash.
	const learned = request.messages
		.slice(asked)
		.flatMap(({ results }) => results ?? [])
		.filter(({ result }) => /^(?:fact|receipt) /.test(String(result)))
		.map(({ result }) => result);
	const message = new AssistantMessage(`${plan.task} is done: ${learned.join(", ")}.`);
	return { message, usage, stopReason: "stop" };
}
