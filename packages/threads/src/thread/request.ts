// Assembles a model request: the system message, the history as the side sees it, and the callables.
// The version that hooks return is sent and never stored.
import type { ModelTool } from "@holdfast/upp";
import type {
	LLMMessage,
	Message,
	ProjectItem,
	ProviderMessage,
	ProviderRequest,
	ProviderTool,
} from "../types/index.ts";
import type { Callable } from "./callable.ts";
import { boundName, sideOf, stopResponse } from "./flow.ts";
import { fromLlmMessages, isImage, llmMessages, providerHistory } from "./history.ts";
import { filterMessages, type HookScope, hasHooks, prefilterHistory, systemMessage } from "./hooks.ts";
import type { LiveRun } from "./live-run.ts";
import { type BoundModel, requestOptions } from "./model-binding.ts";
import type { EnvironmentPart, ThreadPlace } from "./parts.ts";
import { renderPrompt, requireVariables } from "./render-prompt.ts";
import type { Row } from "./row.ts";
import { isAlwaysOffered, isOffered } from "./subagents.ts";
import type { ThreadSystem } from "./system.ts";

/** The parts of a request. */
export interface RequestParts {
	readonly system: ThreadSystem;
	readonly live: LiveRun;
	readonly prompt: ProjectItem<"prompt">;
	readonly env: EnvironmentPart;
	readonly place: ThreadPlace;
	/** The input of a prompt that was called as a tool. Default: the prompt belongs to a side. */
	readonly input?: ProviderMessage;
	/** What the plugins of the threads add. Default: nothing. */
	readonly plugins?: PluginParts;
}

/** What plugins add to the requests of a side. */
export interface PluginParts {
	/** Their sections of the instructions. */
	readonly instructions: string | undefined;
	/** The tools that they offer now. */
	readonly tools: readonly ModelTool[];
}

/**
 * Assembles the part that all models share; differences are added for each model. A promise only if something is
 * asynchronous.
 */
export function assembleRequest(parts: RequestParts): Assembled | Promise<Assembled> {
	const { live, prompt, input } = parts;
	const { definition } = prompt;
	const tools = offeredTools(parts);
	const isPlain =
		typeof definition.prompt === "string" &&
		definition.variables === undefined &&
		parts.system.prompts === undefined;
	if (!isPlain || live.index.project.hooks.size > 0 || tools instanceof Promise)
		return assembled(parts, tools);
	const rows = input === undefined || definition.includeChat === true ? committedRows(live) : noRows;
	return requestsOf(parts, { content: definition.prompt as string, rows, tools, hooks: undefined });
}

async function assembled(
	parts: RequestParts,
	offered: ProviderTool[] | Promise<ProviderTool[]>,
): Promise<Assembled> {
	const { live, prompt, env, input } = parts;
	if (offered instanceof Promise) offered.catch(() => {}); // awaited below, after steps that may fail first
	await requireVariables(prompt, env);
	const rendered = await renderPrompt({ index: live.index, env, prompts: parts.system.prompts }, prompt);
	const hooks = live.hookScope(input === undefined ? undefined : prompt);
	const content = await systemMessage(hooks, rendered);
	const sees = input === undefined || prompt.definition.includeChat === true;
	const isFiltered = hasHooks(hooks, "filter_messages");
	const rows = !sees ? noRows : isFiltered ? await filteredRows(parts, hooks) : committedRows(live);
	return requestsOf(parts, { content, rows, tools: await offered, hooks });
}

/** Parts shared by all requests of one call. */
interface CommonParts {
	/** The system message. */
	readonly content: string;
	readonly rows: SeenRows;
	readonly tools: ProviderTool[];
	/** Absent in a project without hooks. */
	readonly hooks: HookScope | undefined;
}

function requestsOf(parts: RequestParts, { content, rows, tools, hooks }: CommonParts): Assembled {
	const { prompt, input, plugins } = parts;
	const { instructions = "" } = plugins ?? {};
	const sections = [content, instructions].filter((text) => text !== "");
	const head: ProviderMessage = { role: "system", content: sections.join("\n\n") };
	return (model) => {
		const images = recentImages(parts, rows, model.capabilities?.supportsImages !== false);
		const make = (
			found: ReadonlyMap<string, string>,
			masked: <Value>(data: Value) => Value,
		): ProviderRequest | Promise<ProviderRequest> => {
			const history = (): ProviderMessage[] => {
				const seen = providerHistory(rows.all(), viewOf(parts, found));
				return [head, ...masked(input === undefined ? seen : [...seen, input])];
			};
			const options = requestOptions(prompt.definition, model);
			if (hooks === undefined || !hasHooks(hooks, "prefilter_llm_history"))
				return withTools(lazily(options, history), tools);
			return prefilterHistory(hooks, llmMessages(history())).then((filtered: LLMMessage[]) =>
				withTools({ ...options, messages: fromLlmMessages(filtered) }, tools),
			);
		};
		// Secrets typed by users do not reach a model. The system message is the project's own text.
		const redaction = parts.env.redaction?.() ?? asItIs;
		if (!(images instanceof Promise || redaction instanceof Promise))
			return make(images, redaction.redactWithin);
		return Promise.all([images, redaction]).then(([found, { redactWithin }]) => make(found, redactWithin));
	};
}

const asItIs = { redactWithin: <Value>(data: Value): Value => data };

/** Creates the request for a model. A promise only if something is asynchronous. */
export type Assembled = (model: BoundModel) => ProviderRequest | Promise<ProviderRequest>;

/** Builds the messages on first access. */
function lazily(
	options: Omit<ProviderRequest, "messages">,
	history: () => ProviderMessage[],
): ProviderRequest {
	let made: ProviderMessage[] | undefined;
	return {
		...options,
		get messages() {
			made ??= history();
			return made;
		},
	};
}

function withTools(request: ProviderRequest, tools: ProviderTool[]): ProviderRequest {
	if (tools.length > 0) request.tools = tools;
	return request;
}

/** The messages that a model sees; traversing all of them costs time. */
interface SeenRows {
	all(): readonly Row[];
	last(count: number): readonly Row[];
}

const noRows: SeenRows = { all: () => [], last: () => [] };

function committedRows(live: LiveRun): SeenRows {
	// The list may grow during the model call: additions follow these messages.
	const { seq } = live;
	const all = (): readonly Row[] => {
		const { rows } = live.view;
		let length = rows.length;
		while (length > 0 && (rows[length - 1]?.seq ?? 0) > seq) length--;
		return rows.slice(0, length);
	};
	return { all, last: (count) => (count === 0 ? [] : all().slice(-count)) };
}

async function filteredRows({ live }: RequestParts, scope: HookScope): Promise<SeenRows> {
	const { view } = live;
	const known = new Map(view.rows.map((row) => [row.message.id, row]));
	const filtered = await filterMessages(
		scope,
		view.rows.map(({ message }) => copyOf(message)),
	);
	const seen = filtered.map((message): Row => {
		const row = known.get(message.id);
		if (row === undefined) return rowOfHook(message, live);
		return sameContent(row.message, message) ? row : { ...row, message, source: undefined };
	});
	return { all: () => seen, last: (count) => (count === 0 ? [] : seen.slice(-count)) };
}

/** Returns a copy that may be changed. Nested values are copied if there are any. */
function copyOf(message: Message): Message {
	const { metadata = {}, attachments = [] } = message;
	return {
		...message,
		metadata: Object.keys(metadata).length === 0 ? {} : structuredClone(metadata),
		attachments: attachments.map((each) => ({ ...each })),
	};
}

function sameContent(one: Message, other: Message): boolean {
	return one.content === other.content && one.tool_calls === other.tool_calls && one.role === other.role;
}

/** Returns the row for a message that a hook inserted between those of the thread. */
function rowOfHook(message: Message, { flow, runId }: LiveRun): Row {
	const side = message.role === "assistant" || message.role === "tool" ? flow.side : undefined;
	return { message, source: undefined, sourceId: message.id, seq: flow.turnSeq + 1, runId, side };
}

function viewOf(
	{ live, prompt }: RequestParts,
	images: ReadonlyMap<string, string>,
): Parameters<typeof providerHistory>[1] {
	const { flow, index } = live;
	const other = sideOf(index, { agent: flow.agent, side: flow.side === "a" ? "b" : "a" }).config;
	const ends = [other?.stopTool, boundName(other?.sessionStop), boundName(other?.sessionFail)];
	return {
		side: flow.side,
		isDual: index.agent(flow.agent)?.type === "dual_ai",
		includePastTools: prompt.definition.includePastTools === true,
		turnSeq: flow.turnSeq,
		response({ message, isError }) {
			if (isError === true || !ends.includes(message.name ?? "")) return undefined;
			const result = { status: "success" as const, result: message.content ?? "" };
			return stopResponse(result, other?.stopToolResponseProperty);
		},
		image: ({ path }) => images.get(path),
	};
}

const noImages: ReadonlyMap<string, string> = new Map();

/** Returns the images of the last messages in base64; none for a model that does not support images. */
function recentImages(
	parts: RequestParts,
	rows: SeenRows,
	sees: boolean,
): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>> {
	return sees && parts.live.mayHaveFiles ? readImages(parts, rows) : noImages;
}

async function readImages(
	{ live, prompt, system, place }: RequestParts,
	rows: SeenRows,
): Promise<ReadonlyMap<string, string>> {
	const recent = rows.last(prompt.definition.recentImageThreshold ?? 10);
	const files = recent.flatMap(({ message }) => (message.attachments ?? []).filter(isImage));
	const found = new Map<string, string>();
	for (const { path } of files) {
		const known = live.images.get(path) ?? (await base64Of(system, place, path));
		if (known === undefined) continue;
		live.images.set(path, known);
		found.set(path, known);
	}
	return found;
}

async function base64Of(system: ThreadSystem, place: ThreadPlace, path: string): Promise<string | undefined> {
	const bytes = await system.parts.files(place).readFile(path);
	return bytes === null ? undefined : Buffer.from(bytes).toString("base64");
}

const known = new WeakMap<Callable, ProviderTool>();
const alwaysOffered = new WeakMap<readonly Callable[], readonly ProviderTool[] | "not-all">();

/** Returns the tools that the model may call now. */
function offeredTools(parts: RequestParts): ProviderTool[] | Promise<ProviderTool[]> {
	const callables = parts.live.index.callables(parts.prompt);
	let all = alwaysOffered.get(callables);
	if (all === undefined) {
		all = callables.every(isAlwaysOffered) ? callables.map(providerTool) : "not-all";
		alwaysOffered.set(callables, all);
	}
	const ofPlugins = (parts.plugins?.tools ?? []).map(pluginTool);
	if (all === "not-all") return offeredNow(parts, callables).then((offered) => offered.concat(ofPlugins));
	return all.concat(ofPlugins);
}

function pluginTool({ name, description, parameters }: ModelTool): ProviderTool {
	return { type: "function", function: { name, description, parameters: { ...parameters } } };
}

async function offeredNow(
	{ system, live, env }: RequestParts,
	callables: readonly Callable[],
): Promise<ProviderTool[]> {
	const offered: ProviderTool[] = [];
	for (const callable of callables) {
		const now = await isOffered(system, live, callable, env);
		if (now === undefined) continue;
		const made = (now === callable ? known.get(callable) : undefined) ?? providerTool(now);
		if (now === callable) known.set(callable, made);
		offered.push(made);
	}
	return offered;
}

function providerTool(callable: Callable): ProviderTool {
	const { name, description, parameters } = callable;
	const tool: ProviderTool = { type: "function", function: { name, description, parameters } };
	if (callable.kind === "provider") tool.executionMode = "provider";
	if (callable.kind === "tool" && callable.item.definition.executionMode === "provider") {
		tool.executionMode = "provider";
		const { executionProvider } = callable.item.definition;
		if (executionProvider !== undefined) tool.executionProvider = executionProvider;
	}
	if ((callable.kind === "tool" || callable.kind === "provider") && callable.config.options !== undefined)
		tool.options = callable.config.options;
	return tool;
}

/** Returns an outgoing request, and logs it if requests are logged. */
export function logged(
	system: ThreadSystem,
	threadId: string,
	model: BoundModel,
	request: ProviderRequest | Promise<ProviderRequest>,
): ProviderRequest | Promise<ProviderRequest> {
	if (!system.logsRequests) return request;
	return Promise.resolve(request).then(async (made) => {
		await logRequest(system, threadId, model, made);
		return made;
	});
}

/** Logs a request as its provider displays it, without secrets. */
async function logRequest(
	system: ThreadSystem,
	threadId: string,
	{ item, provider, secrets }: BoundModel,
	request: ProviderRequest,
): Promise<void> {
	const { signal: _, ...shown } = request;
	let data: unknown = { ...shown, messages: request.messages };
	try {
		data = (await provider.inspectRequest?.(request)) ?? data;
	} catch {
		// A failure to display a request must not fail the request.
	}
	const message = `A request to the model "${item.name}".`;
	system.log({ threadId, level: "info", topic: "request", message, data: withoutKeys(data, secrets) });
}

const headers = /^(?:authorization|proxy-authorization|x-api-key|api-key|apikey|x-goog-api-key|cookie)$/i;

function withoutKeys(value: unknown, secrets: readonly string[]): unknown {
	if (typeof value === "string")
		return secrets.reduce((text, each) => text.replaceAll(each, "[secret]"), value);
	if (Array.isArray(value)) return value.map((each) => withoutKeys(each, secrets));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value)
			.filter(([name]) => !headers.test(name))
			.map(([name, each]) => [name, withoutKeys(each, secrets)]),
	);
}
