// The cells of threads: each feature on each store, in the process and over HTTP, in one process and across restarts.
import { createServer } from "@holdfast/server";
import {
	defineAgent,
	defineModel,
	definePrompt,
	defineTool,
	type HookDefinition,
	threads as makeThreads,
	type Project,
	type ProviderRequest,
	type ProviderResponse,
	type ProviderStreamChunk,
	type ThreadState,
	type Threads,
	type ToolResult,
	threadRoutes,
} from "@holdfast/threads";
import type { Host } from "holdfast";
import { expect } from "vitest";
import { z } from "zod";
import { valueProject } from "../simulation/threads-project.fixture.ts";
import { type OwnCell, refusalOf, type Store, stores } from "./own-cell.fixture.ts";
import { type ThreadFeature, type ThreadReply, threadFeatures } from "./thread-features.fixture.ts";
import { threadRefusals } from "./thread-refusals.fixture.ts";
import { threadSubagentFeatures } from "./thread-subagent-features.fixture.ts";

type Restart = "never" | "while it waits" | "after each turn";

const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };

/** Follows the scripts of a cell, over all of its deployments. */
class Scripts {
	readonly #left: Map<string, (string | ThreadReply)[]>;

	constructor(scripts: ThreadFeature["scripts"]) {
		this.#left = new Map(Object.entries(scripts).map(([who, replies]) => [who, [...replies]]));
	}

	next({ messages }: ProviderRequest): ThreadReply {
		const who = /^You are (?<name>\w+)/.exec(String(messages[0]?.content))?.groups?.name ?? "";
		const reply = this.#left.get(who)?.shift() ?? `nothing is left for ${who} to say`;
		return typeof reply === "string" ? { text: reply } : reply;
	}
}

function answerOf({ text, calls = [], error, length }: ThreadReply): ProviderResponse {
	if (error !== undefined) throw error;
	return {
		content: text ?? null,
		toolCalls: calls.map(([name, id, args]) => ({ id, name, arguments: args })),
		finishReason: length === true ? "length" : calls.length > 0 ? "tool_calls" : "stop",
		usage,
	};
}

function* piecesOf({
	content,
	toolCalls = [],
	finishReason,
}: ProviderResponse): Generator<ProviderStreamChunk> {
	if (content !== null) yield { type: "content-delta", delta: content };
	for (const { id, name, arguments: args } of toolCalls) {
		yield { type: "tool-call-start", id, name };
		yield { type: "tool-call-done", id, arguments: args };
	}
	yield { type: "finish", finishReason, usage };
}

function projectOf(feature: ThreadFeature, ran: unknown[], scripts: Scripts): Project {
	const { main = ["act"], agents = {}, prompts = [], hooks = [], run } = feature;
	const hookNames = hooks.map(({ id }: HookDefinition) => id);
	const prompt = (name: string, tools: readonly unknown[]) =>
		definePrompt({
			name: `${name}_prompt`,
			toolDescription: `Asks ${name}.`,
			prompt: `You are ${name}.`,
			model: "model",
			includePastTools: true,
			parallelToolCalls: true,
			tools: tools as never,
		});
	const agent = (name: string) =>
		defineAgent({
			name,
			exposeAsTool: true,
			toolDescription: `Is ${name}.`,
			sideA: { prompt: `${name}_prompt` },
			hooks: hookNames,
		});
	const model = defineModel({
		name: "model",
		model: "m",
		provider: () => ({
			name: "scripted",
			specificationVersion: "1",
			generate: async (request) => answerOf(scripts.next(request)),
			async *stream(request) {
				yield* piecesOf(answerOf(scripts.next(request)));
			},
		}),
	});
	const act = defineTool({
		description: "Acts.",
		args: z.object({ n: z.number() }),
		async execute(state: ThreadState, input: { readonly n: number }): Promise<ToolResult> {
			ran.push(input);
			await run?.(state, input, ran);
			return { status: "success", result: `did ${input.n}` };
		},
	});
	const tools = { main, ...agents };
	const named = <Made extends { readonly name: string }>(made: readonly Made[]) =>
		Object.fromEntries(made.map((each) => [each.name, each]));
	return valueProject({
		agent: named(Object.keys(tools).map(agent)),
		prompt: named([
			...Object.entries(tools).map(([name, callable]) => prompt(name, callable)),
			...prompts.map((name) => prompt(name, [])),
		]),
		model: { model },
		tool: { act },
		hook: Object.fromEntries(hooks.map((hook) => [hook.id, hook])),
		effect: {},
		provider: {},
	});
}

interface Deployed {
	readonly host: Host;
	readonly threads: Threads;
}

/** How a cell uses its threads. */
interface Door {
	create(threads: Threads): Promise<string>;
	say(threads: Threads, threadId: string, content: string): Promise<unknown>;
	read(threads: Threads, threadId: string): Promise<readonly SaidMessage[]>;
}

interface SaidMessage {
	readonly role: string;
	readonly content: string | null;
	readonly tool_calls?: string | null | undefined;
}

const inProcess: Door = {
	create: async (threads) => (await threads.createThread({ agentId: "main", id: "t" })).threadId,
	say: (threads, threadId, content) => threads.queueMessage(threadId, { content }),
	async read(threads, threadId) {
		const state = await threads.get(threadId);
		return (await state?.getMessages({ limit: 1_000 }))?.messages ?? [];
	},
};

/** Asks the routes of threads, each time of a server of its own. */
async function asked(threads: Threads, path: string, body?: object): Promise<unknown> {
	const server = createServer({ routes: threadRoutes({ threads }) });
	const headers = { "content-type": "application/json" };
	const post = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
	const response = await server.fetch(new Request(`http://localhost/api/threads${path}`, post));
	if (!response.ok) throw new Error(await response.text());
	return response.json();
}

const overHttp: Door = {
	create: async (threads) => ((await asked(threads, "", { agent_id: "main" })) as { id: string }).id,
	say: (threads, threadId, content) => asked(threads, `/${threadId}/messages`, { content }),
	async read(threads, threadId) {
		const page = await asked(threads, `/${threadId}/messages?limit=1000`);
		return (page as { messages: readonly SaidMessage[] }).messages;
	},
};

/** How long a wait for a busy provider lasts: long enough to be seen, and for a restart during it. */
const waitMs = (where: string): number => (where.includes("Postgres") ? 500 : 20);

async function play(
	feature: ThreadFeature,
	store: Store,
	restart: Restart,
	door: Door,
	where: string,
): Promise<unknown> {
	const ran: unknown[] = [];
	const scripts = new Scripts(feature.scripts);
	const deploy = async (): Promise<Deployed> => {
		const host = store.open();
		const threads = makeThreads({
			project: projectOf(feature, ran, scripts),
			host,
			modelWait: { firstMs: waitMs(where), longestMs: waitMs(where) },
			...feature.options,
		});
		await threads.supervise({ lookEveryMs: 5 });
		return { host, threads };
	};
	let deployed = await deploy();
	const again = async (): Promise<void> => {
		await deployed.threads.close({ drainMs: 0 });
		await deployed.host.close();
		deployed = await deploy();
	};
	let threadId = "";
	const isOver = async ({ host, threads }: Deployed): Promise<boolean> => {
		// An edit that comes after the end of the run waits for the next one.
		const inbox = (await host.journal.inbox(threads.storeKeyOf(threadId))).filter(
			({ kind }) => kind !== "edit",
		);
		const open = await host.journal.list({ state: "open" });
		return open.length === 0 && inbox.length === 0;
	};
	const waits = async (): Promise<boolean> => {
		const isWaiting =
			feature.waitsFor === "call"
				? ran.length > 0
				: (await deployed.host.journal.list({ state: "waiting" })).length > 0;
		return isWaiting || (await isOver(deployed));
	};
	try {
		threadId = await door.create(deployed.threads);
		for (let turn = 0; turn < feature.turns; turn++) {
			await door.say(deployed.threads, threadId, `turn ${turn}`);
			if (turn === 0 && feature.waitsFor !== undefined) {
				await expect.poll(waits, { interval: 1 }).toBe(true);
				if (restart === "while it waits") await again();
				await feature.aside?.(deployed.threads, threadId, ran);
			}
			await expect.poll(() => isOver(deployed), { interval: 1 }).toBe(true);
			await feature.afterTurn?.(deployed.threads, threadId);
			if (restart === "after each turn") await again();
		}
		return { ran, said: said(await door.read(deployed.threads, threadId)) };
	} finally {
		await deployed.threads.close({ drainMs: 0 });
		await deployed.host.close();
		await store.close();
	}
}

/** What the messages of a thread say, with the names of calls. */
function said(messages: readonly SaidMessage[]): readonly string[] {
	return messages.map(({ role, content, tool_calls }) => {
		const calls = (JSON.parse(tool_calls ?? "[]") as { function: { name: string } }[]).map(
			(call) => `<${call.function.name}>`,
		);
		return [`${role}:`, ...(content === null ? [] : [content.replace(/\.? .*$/s, "")]), ...calls].join(" ");
	});
}

const threadPlaces: readonly (readonly [where: string, store: () => Store, door: Door])[] = [
	...Object.entries(stores).map(([where, store]) => [where, store, inProcess] as const),
	["over HTTP", stores["in memory"], overHttp],
	["over HTTP on SQLite", stores["on SQLite"], overHttp],
	["over HTTP on Postgres", stores["on Postgres"], overHttp],
];

const restarts: readonly Restart[] = ["never", "while it waits", "after each turn"];

export const threadCells: readonly OwnCell[] = [
	...[...threadFeatures, ...threadSubagentFeatures].flatMap((feature) =>
		threadPlaces.flatMap(([where, store, door]) =>
			restarts
				.filter(
					(restart) =>
						restart !== "while it waits" || (feature.waitsFor !== undefined && feature.restarted !== null),
				)
				.map(
					(restart): OwnCell => ({
						place: `a thread ${where}`,
						name: `${feature.name} in a thread ${where}, restarted ${restart}`,
						expected:
							restart === "while it waits" ? (feature.restarted ?? feature.expected) : feature.expected,
						play: () => play(feature, store(), restart, door, where),
					}),
				),
		),
	),
	...threadRefusals.map(
		({ name, code, make }): OwnCell => ({
			place: "a project of threads",
			name: `${name} in a project of threads`,
			expected: code,
			play: () => refusalOf(make),
		}),
	),
];
