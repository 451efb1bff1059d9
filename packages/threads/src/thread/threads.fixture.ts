// What the tests of threads share: projects as values, and a provider that follows a script.
import { type Host, memoryHost } from "holdfast";
import { defineAgent, defineModel, definePrompt } from "../define/index.ts";
import type {
	AgentDefinition,
	Controller,
	EffectDefinition,
	HookDefinition,
	ItemKind,
	MarkedThreadEndpoint,
	ModelDefinition,
	Project,
	ProjectDefinitions,
	ProjectEndpoint,
	ProjectItem,
	PromptDefinition,
	ProviderFactoryWithOptions,
	ProviderInstance,
	ProviderRequest,
	ProviderStreamChunk,
	ToolDefinition,
} from "../types/index.ts";
import { type ThreadLog, Threads, type ThreadsOptions } from "./index.ts";

/** What a project is made of. */
export interface Items {
	readonly agents?: readonly AgentDefinition[];
	// biome-ignore lint/suspicious/noExplicitAny: prompts of any schema
	readonly prompts?: readonly PromptDefinition<string, any>[];
	// biome-ignore lint/suspicious/noExplicitAny: tools of any arguments
	readonly tools?: Readonly<Record<string, ToolDefinition<any, any, any>>>;
	readonly models?: readonly ModelDefinition[];
	readonly hooks?: readonly HookDefinition[];
	readonly effects?: Readonly<Record<string, EffectDefinition>>;
	/** By route and method, such as `files/[id]` or `files/[id] POST`. */
	readonly endpoints?: Readonly<Record<string, Controller | MarkedThreadEndpoint>>;
}

/** A project without files. */
export function projectOf({
	agents = [],
	prompts = [],
	tools = {},
	models = [],
	hooks = [],
	effects = {},
	endpoints = {},
}: Items): Project {
	const named = <Kind extends ItemKind>(
		kind: Kind,
		list: readonly (readonly [string, ProjectDefinitions[Kind]])[],
	): ReadonlyMap<string, ProjectItem<Kind>> =>
		new Map(
			list.map(([name, definition]) => [
				name,
				{
					kind,
					name,
					localName: name,
					packageId: null,
					namespace: { type: "global" },
					isEntry: true,
					file: `/project/agents/${kind}s/${name}.ts`,
					definition,
				},
			]),
		);
	const byName = <Definition extends { readonly name: string }>(list: readonly Definition[]) =>
		list.map((each) => [each.name, each] as const);
	const maps = {
		agent: named("agent", byName(agents)),
		prompt: named("prompt", byName(prompts)),
		tool: named("tool", Object.entries(tools)),
		model: named("model", byName(models)),
		hook: named(
			"hook",
			hooks.map((each) => [each.id, each] as const),
		),
		effect: named("effect", Object.entries(effects)),
		provider: named("provider", []),
	};
	return {
		directory: "/project",
		version: "1",
		agents: maps.agent,
		prompts: maps.prompt,
		tools: maps.tool,
		models: maps.model,
		hooks: maps.hook,
		effects: maps.effect,
		providers: maps.provider,
		endpoints: Object.entries(endpoints).map(([name, handler]) => {
			const [route = "", method = "GET"] = name.split(" ");
			return {
				route,
				method: method as ProjectEndpoint["method"],
				handler,
				packageId: null,
				file: `/project/agents/api/${route}.ts`,
			};
		}),
		warnings: [],
		visible: (_namespace, kind, name) => maps[kind].get(name) as never,
		names: (_namespace, kind) => [...maps[kind].keys()].sort(),
	};
}

/** What a scripted provider says to one request. */
export interface Reply {
	readonly text?: string;
	readonly calls?: readonly {
		readonly name: string;
		readonly args?: unknown;
		readonly id?: string;
		readonly extra?: Record<string, unknown>;
	}[];
	readonly error?: Error;
	readonly chunks?: readonly ProviderStreamChunk[];
	readonly gate?: Promise<unknown>;
	readonly images?: readonly { readonly data: string; readonly mediaType: string }[];
}

/** Replies in order, or what follows from the request and its number from 0. */
export type Script =
	| readonly (string | Reply)[]
	| ((request: ProviderRequest, call: number) => string | Reply | Promise<string | Reply>);

/** A provider that follows a script, and the requests it got as they were when it got them. */
export interface ScriptedProvider {
	readonly factory: ProviderFactoryWithOptions;
	readonly requests: (Omit<ProviderRequest, "signal"> & { readonly signal?: AbortSignal })[];
}

const usage = { promptTokens: 3, completionTokens: 2, totalTokens: 5 };

/** Makes one. */
export function scripted(script: Script, more: Partial<ProviderInstance> = {}): ScriptedProvider {
	const requests: ScriptedProvider["requests"] = [];
	const replyTo = async (request: ProviderRequest): Promise<Reply> => {
		const { signal, ...rest } = request;
		const call = requests.length;
		requests.push({
			...structuredClone({ ...rest, messages: request.messages }),
			...(signal === undefined ? {} : { signal }),
		});
		const given = typeof script === "function" ? await script(request, call) : script[call];
		if (given === undefined) throw new Error(`The script has no reply ${call + 1}.`);
		const reply = typeof given === "string" ? { text: given } : given;
		if (reply.gate !== undefined) {
			const stopped = new Promise((_, reject) =>
				signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
			);
			stopped.catch(() => {});
			await Promise.race([reply.gate, stopped]);
		}
		return reply;
	};
	const instance: ProviderInstance = {
		name: "scripted",
		specificationVersion: "1",
		async generate(request) {
			const { text, calls = [], error, images } = await replyTo(request);
			if (error !== undefined) throw error;
			return {
				content: text ?? null,
				toolCalls: calls.map(({ name, args = {}, id, extra }, at) => ({
					id: id ?? `call_${requests.length}_${at}`,
					name,
					arguments: args as Record<string, unknown>,
					...(extra === undefined ? {} : { extraContent: extra }),
				})),
				...(images === undefined ? {} : { images: [...images] }),
				finishReason: calls.length > 0 ? "tool_calls" : "stop",
				usage,
			};
		},
		async *stream(request) {
			const { text, calls = [], error, chunks, images = [] } = await replyTo(request);
			if (chunks !== undefined) {
				yield* chunks;
				return;
			}
			for (const word of text?.split(/(?<= )/) ?? []) yield { type: "content-delta", delta: word };
			if (error !== undefined) throw error;
			for (const [at, { name, args = {}, id = `call_${requests.length}_${at}`, extra }] of calls.entries()) {
				yield { type: "tool-call-start", id, name };
				yield {
					type: "tool-call-done",
					id,
					arguments: args as Record<string, unknown>,
					...(extra === undefined ? {} : { extraContent: extra }),
				};
			}
			for (const [index, image] of images.entries()) yield { type: "image-done", index, image };
			yield { type: "finish", finishReason: calls.length > 0 ? "tool_calls" : "stop", usage };
		},
		...more,
	};
	return { factory: () => instance, requests };
}

/** A project of one agent that talks to people. */
export function oneAgent(
	provider: ScriptedProvider,
	{
		agent = {},
		prompt = {},
		model = {},
		...items
	}: Omit<Items, "agents" | "prompts"> & {
		readonly agent?: Partial<AgentDefinition>;
		// biome-ignore lint/suspicious/noExplicitAny: a prompt of any schema
		readonly prompt?: Partial<PromptDefinition<string, any>>;
		readonly model?: Partial<ModelDefinition>;
		// biome-ignore lint/suspicious/noExplicitAny: prompts of any schema
		readonly prompts?: readonly PromptDefinition<string, any>[];
		readonly agents?: readonly AgentDefinition[];
	} = {},
): Project {
	const { agents = [], prompts = [], models = [], ...rest } = items as Items;
	return projectOf({
		...rest,
		agents: [defineAgent({ name: "helper", sideA: { prompt: "help" }, ...agent }), ...agents],
		prompts: [
			definePrompt({
				name: "help",
				toolDescription: "Helps.",
				prompt: "You help.",
				model: "main",
				tools: Object.keys(items.tools ?? {}),
				...prompt,
			}) as PromptDefinition,
			...prompts,
		],
		models: [defineModel({ name: "main", provider: provider.factory, model: "m-1", ...model }), ...models],
	});
}

/** Threads of a project in memory, with what they logged. */
export function start(
	project: ThreadsOptions["project"],
	options: Partial<ThreadsOptions> = {},
): { readonly threads: Threads; readonly host: Host; readonly logs: ThreadLog[] } {
	const host = options.host ?? memoryHost();
	const logs: ThreadLog[] = [];
	const threads = new Threads({ project, host, onLog: (entry) => logs.push(entry), ...options });
	return { threads, host, logs };
}

/** What a thread's messages say: `role: content`, with the names of calls. */
export async function said(threads: Threads, threadId: string): Promise<readonly string[]> {
	const state = await threads.get(threadId);
	const { messages } = (await state?.getMessages({ limit: 1_000, includeSilent: true })) ?? { messages: [] };
	return messages.map(({ role, content, tool_calls }) => {
		const calls = (JSON.parse(tool_calls ?? "[]") as { function: { name: string } }[]).map(
			(call) => call.function.name,
		);
		return [`${role}:`, ...(content === null ? [] : [content]), ...calls.map((name) => `<${name}>`)].join(
			" ",
		);
	});
}

/** Says something to a thread and waits until nothing is under way. */
export async function say(threads: Threads, threadId: string, content: string): Promise<void> {
	await threads.queueMessage(threadId, { content });
	await threads.quiet();
}
