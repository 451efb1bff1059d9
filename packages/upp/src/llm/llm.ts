// `llm()`: a model with its options, and its own loop of model calls and tool rounds. `generate` and `stream` run the
// same loop; they differ only in how they ask the model.

import { checkOptions, HoldfastTypeError, optionNames, UPPError } from "../errors/index.ts";
import { type Message, type ToolExecution, type ToolResult, ToolResultMessage } from "../messages/index.ts";
import { checkStreamEvent, type LLMRequest, type LLMResponse, textOfSystem } from "../model/index.ts";
import { resolveModel } from "../providers/index.ts";
import { cancelled } from "../retry/index.ts";
import { EventStream, type StreamEvent } from "../stream/index.ts";
import { createTurn, emptyUsage, sumUsage, type Turn } from "../turn/index.ts";
import { bindModel, type ModelBinding } from "./bind.ts";
import { type Conversation, readInputs } from "./inputs.ts";
import type { LLMInstance, LLMOptions, StreamResult } from "./llm-types.ts";
import { runTools } from "./tool-round.ts";

/** The options of `llm()`. `signal` cancels its requests. */
const llmOptionNames = optionNames<LLMOptions & { signal?: AbortSignal }>({
	model: true,
	config: "object",
	params: "object",
	system: true,
	tools: "list",
	toolStrategy: "object",
	structure: "object",
	onRetry: "function",
	signal: "signal",
});

/**
 * Prepares a model to be called: with a system prompt, parameters, tools that it runs itself, and a structure.
 * @throws HoldfastError `invalid_model`, `provider_not_called`, `no_language_model`; `invalid_option` without options.
 */
export function llm(options: LLMOptions): LLMInstance {
	if (typeof options !== "object" || options === null)
		throw new HoldfastTypeError("invalid_option", "llm() takes an object of options: { model }.");
	checkOptions(options, llmOptionNames, { of: "llm()" });
	const loop: Loop = {
		options,
		binding: bindModel(options),
		provider: resolveModel(options.model).provider.name,
	};
	const { model } = loop.binding;
	const instance: LLMInstance = {
		generate: async (historyOrInput, ...inputs) => generate(loop, readInputs(historyOrInput, inputs)),
		stream: (historyOrInput, ...inputs) => stream(loop, readInputs(historyOrInput, inputs)),
		model,
		system: options.system === undefined ? undefined : textOfSystem(options.system),
		params: options.params,
		capabilities: model.capabilities,
	};
	const { generate: generating, stream: streaming } = instance;
	madeOf.set(instance, { options, generate: generating, stream: streaming });
	return instance;
}

interface Made extends Pick<LLMInstance, "generate" | "stream"> {
	readonly options: LLMOptions;
}

const madeOf = new WeakMap<LLMInstance, Made>();

/**
 * Returns the options that `llm()` received for an instance; undefined for other instances, and for those whose
 * `generate` or `stream` was replaced.
 */
export function llmOptionsOf(instance: LLMInstance): LLMOptions | undefined {
	const made = madeOf.get(instance);
	const isWhole = made?.generate === instance.generate && made.stream === instance.stream;
	return isWhole ? made.options : undefined;
}

interface Loop {
	options: LLMOptions;
	binding: ModelBinding;
	provider: string;
}

/** How one run of the loop asks the model and emits events. */
interface Run {
	signal: AbortSignal;
	ask(request: LLMRequest): Promise<LLMResponse>;
	emit(event: StreamEvent): void;
}

async function generate(loop: Loop, conversation: Conversation): Promise<Turn> {
	// A `generate` can only be cancelled by the signal in the options, which every request uses.
	const given = (loop.options as { signal?: AbortSignal }).signal;
	return runLoop(loop, conversation, {
		signal: given ?? new AbortController().signal,
		ask: (request) => loop.binding.model.complete(request),
		emit: () => {},
	});
}

function stream(loop: Loop, conversation: Conversation): StreamResult {
	const controller = new AbortController();
	const given = (loop.options as { signal?: AbortSignal }).signal;
	const signal = given === undefined ? controller.signal : AbortSignal.any([given, controller.signal]);
	const events = new EventStream<Turn>((target) =>
		runLoop(loop, conversation, {
			signal,
			ask: (request) => follow(loop, request, target),
			emit: (event) => target.push(event),
		}),
	);
	return {
		turn: events.result,
		abort: () => controller.abort(),
		[Symbol.asyncIterator]: () => events,
	};
}

async function follow(loop: Loop, request: LLMRequest, target: EventStream<Turn>): Promise<LLMResponse> {
	const source = loop.binding.model.stream(request);
	// The iteration reports the failure; the promise must not count as unhandled.
	source.response.catch(() => {});
	for await (const event of source) target.push(checkStreamEvent(event, loop.provider));
	return source.response;
}

async function runLoop(loop: Loop, conversation: Conversation, run: Run): Promise<Turn> {
	const { options, provider } = loop;
	const strategy = options.toolStrategy ?? {};
	const limit = strategy.maxIterations ?? Number.POSITIVE_INFINITY;
	const all: Message[] = [...conversation.history, ...conversation.inputs];
	const executions: ToolExecution[] = [];
	const cycles: { inputTokens: number; outputTokens: number }[] = [];
	let usage = emptyUsage();
	for (;;) {
		const request = loop.binding.request([...all], { signal: run.signal });
		const response = await unlessAborted(run.ask(request), run.signal, provider);
		all.push(response.message);
		usage = sumUsage(usage, response.usage);
		cycles.push({ inputTokens: response.usage.inputTokens, outputTokens: response.usage.outputTokens });
		if (!response.message.hasToolCalls) {
			return createTurn({
				messages: all.slice(conversation.history.length),
				response: response.message,
				toolExecutions: executions,
				usage: { ...usage, cycles },
				cycles: cycles.length,
				stopReason: response.stopReason,
				data: response.data,
			});
		}
		// One round follows each answer with calls, so this round would exceed the limit.
		if (cycles.length > limit) {
			await strategy.onMaxIterations?.(limit);
			throw tooManyRounds(limit, provider);
		}
		const tools = runTools(response.message, {
			tools: options.tools ?? [],
			strategy,
			signal: run.signal,
			emit: run.emit,
		});
		const done = await unlessAborted(tools, run.signal, provider);
		for (const execution of done) executions.push(execution);
		all.push(new ToolResultMessage(done.map(toResult)));
	}
}

function toResult(execution: ToolExecution): ToolResult {
	const { toolCallId, result, isError } = execution;
	return isError ? { toolCallId, result, isError } : { toolCallId, result };
}

function tooManyRounds(limit: number, provider: string): UPPError {
	return new UPPError(
		`The model asked for more than ${limit} rounds of tools, the limit set by \`toolStrategy.maxIterations\`. Raise it, or find out why the model does not finish.`,
		"INVALID_REQUEST",
		provider,
		"llm",
	);
}

// Models and tools receive the signal; those that ignore it must not keep the turn from settling.
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, provider: string): Promise<T> {
	return new Promise((resolve, reject) => {
		const stop = (): void => reject(cancelled(provider, signal.reason));
		if (signal.aborted) stop();
		else signal.addEventListener("abort", stop, { once: true });
		const finished = (): void => signal.removeEventListener("abort", stop);
		work.finally(finished).catch(() => {});
		work.then(resolve, reject);
	});
}
