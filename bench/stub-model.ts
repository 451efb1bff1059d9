// Models that answer at once, so that only the runtime's own work is measured. They use the public interface for custom
// providers and read no more of the history than they need to answer.
import {
	AssistantMessage,
	createProvider,
	type LanguageModel,
	type LLMRequest,
	type LLMResponse,
	type LLMStreamResult,
	type ModelReference,
	type StreamEvent,
	type UserMessage,
} from "@holdfast/upp";
import { type AnyTool, tool } from "holdfast";

/** Whether an answer comes in one piece or as a stream of three events. */
export type Manner = "whole" | "streamed";

const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
const hundredCharacters = "0123456789".repeat(10);
const never = new Promise<LLMResponse>(() => {});
const nothing: readonly StreamEvent[] = [];
const spokenCall: readonly StreamEvent[] = [
	{ type: "message_start", index: 0, delta: {} },
	{ type: "tool_call_delta", index: 0, delta: { toolName: "look", argumentsJson: "{}" } },
	{ type: "message_stop", index: 0, delta: {} },
];

/** A model that calls the tool in `steps` answers, then finishes; and repeats this. */
export function steppingModel(steps: number, manner: Manner): ModelReference {
	let answered = 0;
	return modelOf(manner, () => {
		if (answered < steps) return call(++answered);
		answered = 0;
		return done();
	});
}

/** Gives the parts of an answer that the AI SDK streams. */
type StreamParts = readonly { readonly type: string; readonly [member: string]: unknown }[];

/** The stream of an AI SDK model by itself, which such a model has to make for every answer. */
export function streamOfParts(parts: StreamParts = callParts(1)): ReadableStream<StreamParts[number]> {
	return new ReadableStream({
		start(controller) {
			for (const part of parts) controller.enqueue(part);
			controller.close();
		},
	});
}

/** The same stepping model as an AI SDK provider would make it. */
export function steppingLanguageModel(steps: number): LanguageModel {
	let answered = 0;
	return {
		specificationVersion: "v4",
		provider: "stub",
		modelId: "at-once",
		async doGenerate() {
			throw new Error("This model streams.");
		},
		async doStream() {
			const isDone = answered === steps;
			answered = isDone ? 0 : answered + 1;
			return { stream: streamOfParts(isDone ? doneParts : callParts(answered)) };
		},
	};
}

const finishPart = {
	type: "finish",
	finishReason: { unified: "stop", raw: "stop" },
	usage: { inputTokens: { total: 10 }, outputTokens: { total: 5 } },
};

const doneParts: StreamParts = [
	{ type: "stream-start", warnings: [] },
	{ type: "text-start", id: "0" },
	{ type: "text-delta", id: "0", delta: "Done." },
	{ type: "text-end", id: "0" },
	finishPart,
];

function callParts(number: number): StreamParts {
	const id = `call-${number}`;
	return [
		{ type: "stream-start", warnings: [] },
		{ type: "response-metadata", id: "response", modelId: "at-once" },
		{ type: "tool-input-start", id, toolName: "look" },
		{ type: "tool-input-delta", id, delta: "{}" },
		{ type: "tool-input-end", id },
		{ type: "tool-call", toolCallId: id, toolName: "look", input: "{}" },
		finishPart,
	];
}

/** A model that reasons before each of `steps` calls of the tool, then finishes; and repeats this. */
export function reasoningModel(steps: number): ModelReference {
	let answered = 0;
	return modelOf("whole", () => {
		const number = answered++;
		if (number % 2 === 0) return said("I should look.");
		if (number < 2 * steps) return call(number);
		answered = 0;
		return done();
	});
}

/** A model that plans `steps` steps and carries out each with one call of the tool; and so again from the start. */
export function plannedModel(steps: number): ModelReference {
	const data = {
		steps: Array.from({ length: steps }, (_, at) => ({ id: `step-${at}`, description: "Look at it." })),
	};
	let answered = 0;
	return modelOf("whole", () => {
		const number = answered++;
		if (number === 0) return { ...said("A plan."), data };
		if (number % 2 === 1) return call(number);
		if (number === 2 * steps) answered = 0;
		return done();
	});
}

/** A model that finishes in one piece for every request; it passes on the user's text. */
export function wholeModel(asked: (text: string) => void): ModelReference {
	return modelOf("whole", ({ messages }) => {
		asked((messages.at(-1) as UserMessage).text);
		return done();
	});
}

/** A model for many conversations at once: it asks for the tool once in each. */
export function oneStepModel(): ModelReference {
	let calls = 0;
	return modelOf("whole", ({ messages }) =>
		messages.at(-1)?.type === "tool_result" ? done() : call(++calls),
	);
}

/** A model for conversations that stall: it calls the tool once in each, then never answers again. */
export function stuckModel(stuck: () => void): ModelReference {
	let calls = 0;
	return modelOf("whole", ({ messages }) => {
		if (messages.at(-1)?.type !== "tool_result") return call(++calls);
		stuck();
		return never;
	});
}

/**
 * A model that gives work to the sub-agent "worker" in the background: in its first answer to a conversation as many
 * tasks as the message says.
 */
export function delegatingModel(): ModelReference {
	return modelOf("whole", ({ messages }) => {
		const last = messages.at(-1);
		if (last?.type !== "user") return done();
		const calls = Array.from({ length: Number((last as UserMessage).text) }, (_, at) => ({
			toolCallId: `task-${at}`,
			toolName: "delegate_to_worker",
			arguments: { prompt: "Do it.", run_in_background: true },
		}));
		return { message: new AssistantMessage([], calls), usage, stopReason: "tool_calls" };
	});
}

/** A model that says one word `count` times, each a delta of its own. */
export function talkingModel(count: number): ModelReference {
	return modelOf(
		"streamed",
		() => ({ ...done(), message: new AssistantMessage("word ".repeat(count)) }),
		count,
	);
}

/** A model that says one word `count` times and waits for `pace` before each. */
export function pacedModel(count: number, pace: () => Promise<void>): ModelReference {
	return modelOf(
		"streamed",
		() => ({ ...done(), message: new AssistantMessage("word ".repeat(count)) }),
		count,
		pace,
	);
}

/** The trivial tool: 100 characters, at once. `ran` is called for every call. */
export function lookTool(ran: () => void = () => {}): AnyTool {
	return tool({
		name: "look",
		description: "Looks at one thing.",
		parameters: { type: "object", properties: {} },
		retryPolicy: "pure",
		run() {
			ran();
			return hundredCharacters;
		},
	});
}

/** The stream of such a model by itself, to be opened any number of times. */
export function talk(count: number): () => LLMStreamResult {
	const pieces = deltas(count);
	return () => streamOf(pieces, done());
}

function deltas(count: number): readonly StreamEvent[] {
	return Array.from({ length: count }, () => ({ type: "text_delta", index: 0, delta: { text: "word " } }));
}

function modelOf(
	manner: Manner,
	answer: (request: LLMRequest) => LLMResponse | Promise<LLMResponse>,
	deltaCount?: number,
	pace?: () => Promise<void>,
): ModelReference {
	const pieces = deltaCount === undefined ? spokenCall : deltas(deltaCount);
	const provider = createProvider({
		name: "stub",
		version: "1",
		modalities: {
			llm: {
				bind: (modelId) => ({
					modelId,
					capabilities: {
						streaming: manner === "streamed",
						tools: true,
						structuredOutput: false,
						imageInput: false,
						videoInput: false,
						audioInput: false,
					},
					complete: async (request) => answer(request),
					stream(request) {
						const response = answer(request);
						if (response instanceof Promise) throw new Error("This model answers in one piece.");
						return streamOf(
							deltaCount === undefined && !response.message.hasToolCalls ? nothing : pieces,
							response,
							pace,
						);
					},
				}),
			},
		},
	});
	return provider("at-once");
}

function streamOf(
	events: readonly StreamEvent[],
	response: LLMResponse,
	pace?: () => Promise<void>,
): LLMStreamResult {
	let at = 0;
	const next = (): Promise<IteratorResult<StreamEvent>> => {
		const value = events[at++];
		if (value === undefined) return Promise.resolve({ value: undefined, done: true });
		return Promise.resolve({ value, done: false });
	};
	const iterator: AsyncIterator<StreamEvent> = {
		next: pace === undefined ? next : () => pace().then(next),
	};
	return { response: Promise.resolve(response), [Symbol.asyncIterator]: () => iterator };
}

function call(number: number): LLMResponse {
	const calls = [{ toolCallId: `call-${number}`, toolName: "look", arguments: {} }];
	return { message: new AssistantMessage([], calls), usage, stopReason: "tool_calls" };
}

function done(): LLMResponse {
	return said("Done.");
}

function said(text: string): LLMResponse {
	return { message: new AssistantMessage(text), usage, stopReason: "stop" };
}
