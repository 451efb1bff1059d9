// The one model that the engine calls for all threads of a project: it assembles the request of the active side and calls
// that side's model. A queued call is answered without a model: it enters the thread as an ordinary call.
import {
	AssistantMessage,
	createProvider,
	EventStream,
	emptyUsage,
	HoldfastError,
	type LLMRequest,
	type LLMResponse,
	type ModelReference,
	messageOf,
	type StreamEvent,
	type ToolCall,
} from "@holdfast/upp";
import type { InterceptedModelCall } from "holdfast/middleware";
import type { AttachmentRef, ModelDefinition, ProjectItem, ProviderResponse } from "../types/index.ts";
import { queuedTag } from "./flow.ts";
import type { LiveRun } from "./live-run.ts";
import { dataOf, type MessageData, type Side, withData } from "./message-data.ts";
import { askStreamed, type BoundModel, modelsOf } from "./model-binding.ts";
import { recordCall } from "./model-calls.ts";
import { callName } from "./project-index.ts";
import { assembleRequest, logged } from "./request.ts";
import { startImmediate } from "./subagents.ts";
import type { ThreadSystem } from "./system.ts";

interface ModelScope {
	readonly live: LiveRun;
	readonly call: InterceptedModelCall;
}

/** The engine's request. Threads use what plugins added to it, and assemble its messages themselves. */
type GivenRequest = Pick<LLMRequest, "signal" | "system" | "tools" | "messages">;

/** Model calls in flight, by the signal of their run: a run makes one at a time. */
const scopes = new WeakMap<AbortSignal, ModelScope>();

/** Makes a model call for a thread. */
export function forModelCall<T>(live: LiveRun, call: InterceptedModelCall, next: () => T): T {
	scopes.set(call.signal, { live, call });
	return next();
}

/** Creates the model. */
export function threadModel(system: ThreadSystem): ModelReference {
	const stream = (request: LLMRequest): EventStream<LLMResponse> => {
		const scope = request.signal && scopes.get(request.signal);
		if (scope === undefined) throw new HoldfastError("invalid_input", "This model answers only in threads.");
		const answered = (target: EventStream<LLMResponse>): Promise<LLMResponse> => {
			if (scope.call.tag === queuedTag) return Promise.resolve(queuedCall(system, scope.live));
			checkMessages(scope.live, request);
			return answering(system, scope, request, (event) => target.push(event));
		};
		return new EventStream<LLMResponse>((target) => {
			const loading = scope.live.ready();
			return loading === undefined ? answered(target) : loading.then(() => answered(target));
		});
	};
	const can = { streaming: true, tools: true, structuredOutput: true, imageInput: true };
	const bind = (modelId: string) => ({
		modelId,
		capabilities: { ...can, videoInput: false, audioInput: false },
		complete: (request: LLMRequest) => stream(request).response,
		stream,
	});
	return createProvider({ name: "threads", version: "1", modalities: { llm: { bind } } })("thread");
}

/**
 * Refuses a request whose messages policy has changed, because the request of a side does not contain those messages.
 * @throws HoldfastError `conflicting_options`.
 */
function checkMessages({ unchanged }: LiveRun, { messages }: GivenRequest): void {
	if (unchanged === undefined || unchanged === messages) return;
	if (unchanged.length === messages.length && unchanged.every((each, at) => each === messages[at])) return;
	throw new HoldfastError(
		"conflicting_options",
		"A plugin or a middleware has changed the messages of a request, which threads assemble themselves. Remove it, such as `compaction`, `slidingWindow` or a hook that adds an overlay, and change the messages in a hook `filter_messages` of the project.",
	);
}

/** Returns the message of a queued call. */
function queuedCall(system: ThreadSystem, { flow }: LiveRun): LLMResponse {
	const [queued] = flow.queue;
	const call: ToolCall = {
		toolCallId: `queued_${system.newId()}`,
		toolName: callName(queued?.name ?? ""),
		arguments: queued?.args ?? {},
	};
	const metadata = withData({ side: flow.side, noContent: true });
	const message = new AssistantMessage([], [call], { id: system.newId(), metadata });
	return { message, usage: emptyUsage(), stopReason: "tool_calls" };
}

/** Calls the model of the acting side. */
async function answering(
	system: ThreadSystem,
	scope: ModelScope,
	{ signal, system: instructions, tools = [] }: GivenRequest,
	emit: (event: StreamEvent) => void,
): Promise<LLMResponse> {
	const { live } = scope;
	const { index, flow, threadId, place } = live;
	const prompt = index.promptOf(flow);
	live.promptPath = [prompt.definition.name];
	const env = live.environment(prompt);
	if (!live.activated.has(prompt.name)) await startImmediate(system, live, prompt, env);
	const plugins = { instructions, tools: tools.filter(({ name }) => !live.index.isCallName(name)) };
	const assembling = assembleRequest({ system, live, prompt, env, place, plugins });
	const assembled = assembling instanceof Promise ? await assembling : assembling;
	const bound = modelsOf(index, prompt, env);
	const models = bound instanceof Promise ? await bound : bound;
	const { side } = flow;
	const { response } = await askStreamed(
		{
			models,
			signal,
			limits: system.limits,
			message: ({ item, provider }) => ({
				id: messageIdOf(live.runId, scope.call.step),
				metadata: (usage, others) => withData(dataOfAnswer(side, prompt, item, usage), others),
				answered: (answer) => void logAnswer(system, threadId, { item, provider, signal }, answer),
			}),
			request: (model) => logged(system, threadId, model, assembled(model)),
			failed({ item }, error, isLast) {
				const then = isLast ? "No other model is left." : "The next model is called.";
				const message = `The model "${item.name}" failed: ${messageOf(error)} ${then}`;
				const data = { model: item.name, code: error.code };
				system.log({ threadId, level: isLast ? "error" : "warn", topic: "model", message, data });
				void failedCall(system, live, prompt, item.name, error.code);
			},
		},
		emit,
	);
	const { message } = response;
	return message.content.some(({ type }) => type === "image")
		? { ...response, message: await withImagesKept(system, live, message) }
		: response;
}

/** Returns which model answered, and the cost. */
function dataOfAnswer(
	side: Side,
	prompt: ProjectItem<"prompt">,
	model: ProjectItem<"model">,
	usage: LLMResponse["usage"],
): MessageData {
	const cost = costOf(model.definition, usage);
	const data = { side, prompt: prompt.name, model: model.name };
	const counted = cost === undefined ? data : { ...data, cost };
	return side === "b" ? { ...counted, metadata: { side: "b" } } : counted;
}

/** Logs the provider's own work for an answer, and its metadata. */
async function logAnswer(
	system: ThreadSystem,
	threadId: string,
	{
		item,
		provider,
		signal,
	}: Pick<BoundModel, "item" | "provider"> & { readonly signal: AbortSignal | undefined },
	{ providerTools = [], webSearches = [], finishReason, usage, metadata }: ProviderResponse,
): Promise<void> {
	const log = (message: string, data: unknown, topic = "provider-tool"): void =>
		system.log({ threadId, level: "info", topic, message, data });
	for (const tool of providerTools)
		log(`The provider executed its tool "${tool.name}" (${tool.status}).`, { ...tool, type: tool.name });
	for (const search of webSearches)
		log(`The provider searched the web (${search.status ?? "completed"}).`, {
			name: "web_search",
			...search,
		});
	if (provider.getResponseMetadata === undefined) return;
	const { model } = item.definition;
	const { responseId } = (metadata ?? {}) as { readonly responseId?: unknown };
	try {
		const known = await provider.getResponseMetadata(
			{
				model,
				finishReason,
				usage,
				...(typeof responseId === "string" ? { responseId } : {}),
				...(metadata === undefined ? {} : { metadata }),
			},
			signal,
		);
		if (known !== null)
			log(`The provider of the model "${item.name}" returned more data about its answer.`, known, "model");
	} catch (error) {
		const message = `The provider of the model "${item.name}" could not return more data about its answer: ${messageOf(error)}`;
		system.log({ threadId, level: "warn", topic: "model", message });
	}
}

/** Returns the message as the thread stores it: its images are files. */
async function withImagesKept(
	system: ThreadSystem,
	live: LiveRun,
	message: AssistantMessage,
): Promise<AssistantMessage> {
	const attachments = await keepImages(system, live, message);
	if (attachments.length === 0) return message;
	const { id, timestamp, toolCalls, metadata } = message;
	const content = message.content.filter(({ type }) => type !== "image");
	const data: MessageData = { ...dataOf(message), attachments };
	return new AssistantMessage(content, toolCalls, { id, timestamp, metadata: withData(data, metadata) });
}

/** Returns the id of the message that a step's model creates: watchers need it before there is a message. */
export function messageIdOf(runId: string, step: number): string {
	return `${runId}.${step}`;
}

async function keepImages(
	system: ThreadSystem,
	{ place }: LiveRun,
	{ content }: AssistantMessage,
): Promise<AttachmentRef[]> {
	const images = content.flatMap((block, at) =>
		block.type === "image" && block.source.type === "base64"
			? [
					{
						name: `image-${at + 1}.${extensionOf(block.mimeType)}`,
						mimeType: block.mimeType,
						data: block.source.data,
					},
				]
			: [],
	);
	if (images.length === 0) return [];
	return system.parts.files(place).storeAttachments(images);
}

function extensionOf(mimeType: string): string {
	return (mimeType.split("/")[1] ?? "bin").replace(/[^a-z0-9]/gi, "");
}

/** Records a call without an answer, for the list of a thread's calls. Must not throw. */
export async function failedCall(
	system: ThreadSystem,
	{ threadId }: LiveRun,
	{ name: prompt }: ProjectItem<"prompt">,
	model: string,
	error: string,
): Promise<void> {
	const call = { model, prompt, createdAt: system.now(), inputTokens: 0, outputTokens: 0, error };
	await recordCall(system.host, system.storeKeyOf(threadId), system.newId(), call).catch(() => {});
}

/** Returns US dollars; undefined if the prices are unknown. */
export function costOf(
	{ inputPrice, outputPrice, cachedPrice }: ModelDefinition,
	usage: LLMResponse["usage"],
): number | undefined {
	if (inputPrice === undefined || outputPrice === undefined) return undefined;
	const cached = usage.cacheReadTokens ?? 0;
	const fresh = Math.max(0, usage.inputTokens - cached);
	return (
		(fresh * inputPrice + cached * (cachedPrice ?? inputPrice) + usage.outputTokens * outputPrice) / 1_000_000
	);
}
