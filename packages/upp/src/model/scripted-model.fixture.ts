// A model that answers from a script, for tests of the layers that call models.

import { AssistantMessage, type ToolCall } from "../messages/index.ts";
import { EventStream } from "../stream/index.ts";
import { createProvider } from "./create-provider.ts";
import type { LLMRequest, LLMResponse } from "./model-port.ts";
import type { ModelReference } from "./provider.ts";

/** One answer: text, calls, an error to fail with, or `hang` to never answer. */
export interface ScriptedAnswer {
	text?: string;
	calls?: readonly ToolCall[];
	error?: unknown;
	/** Fails after the text was streamed instead of before. */
	errorAfterText?: unknown;
	data?: unknown;
	hang?: boolean;
}

export interface ScriptedModel {
	reference: ModelReference;
	requests: LLMRequest[];
}

/** A model that returns the answers in order; the last one is repeated. */
export function scriptedModel(...answers: readonly ScriptedAnswer[]): ScriptedModel {
	const requests: LLMRequest[] = [];
	const take = (request: LLMRequest): ScriptedAnswer => {
		requests.push(request);
		return answers[Math.min(requests.length, answers.length) - 1] as ScriptedAnswer;
	};
	const respond = async (answer: ScriptedAnswer): Promise<LLMResponse> => {
		if (answer.hang) return new Promise(() => {});
		if (answer.error !== undefined) throw answer.error;
		return {
			message: new AssistantMessage(answer.text ?? "", answer.calls),
			usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadTokens: 2 },
			stopReason: answer.calls === undefined ? "stop" : "tool_calls",
			...(answer.data === undefined ? {} : { data: answer.data }),
		};
	};
	const provider = createProvider({
		name: "scripted",
		version: "1",
		modalities: {
			llm: {
				bind: (modelId) => ({
					modelId,
					capabilities: {
						streaming: true,
						tools: true,
						structuredOutput: true,
						imageInput: false,
						videoInput: false,
						audioInput: false,
					},
					complete: async (request) => respond(take(request)),
					stream: (request) =>
						new EventStream<LLMResponse>(async (stream) => {
							const answer = take(request);
							const response = await respond(answer);
							stream.push({ type: "message_start", index: 0, delta: {} });
							for (const text of (answer.text ?? "").split(/(?<= )/)) {
								stream.push({ type: "text_delta", index: 0, delta: { text } });
							}
							if (answer.errorAfterText !== undefined) throw answer.errorAfterText;
							stream.push({ type: "message_stop", index: 0, delta: {} });
							return response;
						}),
				}),
			},
		},
	});
	return { reference: provider("model"), requests };
}

/** A call of a tool. */
export function call(
	toolName: string,
	args: Record<string, unknown> = {},
	toolCallId: string = toolName,
): ToolCall {
	return { toolCallId, toolName, arguments: args };
}
