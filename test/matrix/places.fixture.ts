// The places of the matrix: where an agent is used. To add a place, add an entry.
import { HttpAgent } from "@ag-ui/client";
import { Chat } from "@ai-sdk/react";
import { createClient } from "@holdfast/client";
import { HoldfastChatTransport } from "@holdfast/client/ai-sdk";
import { UserMessage } from "@holdfast/upp";
import { type ChatTransport, DefaultChatTransport, type UIMessage } from "ai";
import { Agent, type AnyTool, createSession, execute, type Host, memoryHost } from "holdfast";
import { expect } from "vitest";
import type { Aside, Asked, Said } from "./features.fixture.ts";
import { overInspector } from "./inspector-place.fixture.ts";
import { overA2a, overMcp } from "./protocol-places.fixture.ts";
import {
	callsOf,
	codeOf,
	type Deploy,
	messageOf,
	onSqlite,
	refusal,
	refuseInput,
	type Served,
	serve,
	type Talk,
	type Waiting,
} from "./serve.fixture.ts";

export type PlaceName =
	| "a call"
	| "a session in memory"
	| "a session on SQLite"
	| "a session on Postgres"
	| "an execute session"
	| "an execute session on SQLite"
	| "HTTP"
	| "HTTP on SQLite"
	| "a look at a session over HTTP"
	| "the client"
	| "the inspector"
	| "useChat"
	| "useChat with the transport of the AI SDK"
	| "AG-UI"
	| "A2A"
	| "MCP of 2025"
	| "MCP of 2026";

/** A store on Postgres, where the tests have one. */
let postgres: () => Host = () => {
	throw new Error("there is no Postgres");
};

/** Says how a place on Postgres gets its store. */
export function usePostgres(open: () => Host): void {
	postgres = open;
}

export const places: Readonly<Record<PlaceName, (deploy: Deploy) => Promise<Talk>>> = {
	async "a call"(deploy) {
		const agent = new Agent(deploy());
		let state: Parameters<Agent["generate"]>[1];
		return {
			async say(text) {
				({ state } = await agent.generate(text, state));
				return [];
			},
			answer: () => Promise.reject(new Error("nobody was asked")),
			close: () => agent.close(),
		};
	},
	"a session in memory": (deploy) => inSession(deploy, memoryHost()),
	"a session on SQLite": (deploy) => inSession(deploy, onSqlite()),
	"a session on Postgres": (deploy) => inSession(deploy, postgres()),
	"an execute session": (deploy) => inExecuteSession(deploy, memoryHost()),
	"an execute session on SQLite": (deploy) => inExecuteSession(deploy, onSqlite()),
	HTTP: async (deploy) => overHttp(serve(deploy)),
	"HTTP on SQLite": async (deploy) => overHttp(serve(deploy, onSqlite())),
	async "a look at a session over HTTP"(deploy) {
		const served = serve(deploy);
		const talk = overHttp(served);
		const look = async (): Promise<readonly Asked[]> => {
			const response = await served.fetch("http://localhost/api/agent/session/s");
			return callsOf((await response.json()) as Waiting);
		};
		return {
			...talk,
			say: (text) => talk.say(text).then(look),
			answer: (answers) => talk.answer(answers).then(look),
		};
	},
	async "the client"(deploy) {
		const served = serve(deploy);
		const client = createClient({ url: "http://localhost", fetch: served.fetch, reconnectDelayMs: 1 });
		const told = async (input: never): Promise<readonly Asked[]> => {
			return callsOf(await client.execute({ sessionId: "s", input, context: {} }).result());
		};
		return {
			say: (content) => told({ role: "user", content } as never),
			answer: (answers) => told(answers.map(messageOf) as never),
			answerAgain: (asked, said) => codeOf(told([messageOf([asked, said])] as never)),
			...kept(served),
		};
	},
	"the inspector": overInspector,
	async useChat(deploy) {
		const served = serve(deploy);
		const { fetch } = served;
		return inChat(served, new HoldfastChatTransport({ url: "http://localhost", fetch, reconnectDelayMs: 1 }));
	},
	async "useChat with the transport of the AI SDK"(deploy) {
		const served = serve(deploy);
		return inChat(
			served,
			new DefaultChatTransport({ api: "http://localhost/api/chat", fetch: served.fetch as typeof fetch }),
		);
	},
	async "AG-UI"(deploy) {
		const served = serve(deploy);
		const tools = (deploy().tools ?? []) as readonly AnyTool[];
		const own = new Set(tools.flatMap((each) => ("run" in each ? [] : [each.name ?? ""])));
		own.add(askTool);
		const agent = new HttpAgent({ url: "http://localhost/api/ag-ui", threadId: "s", fetch: served.fetch });
		/** Ids of interrupts of tasks in the background, by those of their calls. */
		const background = new Map<string, string>();
		const run = async (parameters: Parameters<HttpAgent["runAgent"]>[0]): Promise<readonly Asked[]> => {
			const asked: Asked[] = [];
			let failed: Error | undefined;
			// The front end runs its own tools: their calls wait for it until they have a result.
			const open = new Map<string, unknown>();
			const running = agent.runAgent(parameters, {
				onToolCallEndEvent({ event, toolCallName, toolCallArgs }) {
					if (own.has(toolCallName)) open.set(event.toolCallId, toolCallArgs);
				},
				onToolCallResultEvent: ({ event }) => void open.delete(event.toolCallId),
				onCustomEvent: ({ event: { name, value } }) => {
					if (name !== "background_calls") return;
					for (const { toolCallId: id, input, interruptId } of value as BackgroundCall[]) {
						asked.push({ id, input, awaits: interruptId === undefined ? "result" : "approval" });
						if (interruptId !== undefined) background.set(id, interruptId);
					}
				},
				onRunFinishedEvent: ({ event }) => {
					const { interrupts = [] } = (event.outcome ?? {}) as unknown as {
						interrupts?: { toolCallId: string; metadata: { input: unknown } }[];
					};
					for (const { toolCallId: id, metadata } of interrupts)
						asked.push({ id, input: metadata.input, awaits: "approval" });
					for (const [id, input] of open) asked.push({ id, input, awaits: "result" });
				},
				onRunFailed: ({ error }) => {
					failed = error;
				},
			});
			await running.catch((error) => {
				failed ??= error;
			});
			const [, code] = /"code":"(\w+)"/.exec(failed?.message ?? "") ?? [];
			if (failed !== undefined) throw code === undefined ? failed : refusal(code);
			return asked;
		};
		return {
			say(content) {
				agent.addMessage({ id: crypto.randomUUID(), role: "user", content });
				return run({});
			},
			answer(answers) {
				const resume = answers.flatMap(([asked, said]) => {
					if ("output" in said) {
						agent.addMessage({
							id: crypto.randomUUID(),
							role: "tool",
							toolCallId: asked.id,
							content: said.output,
						});
						return [];
					}
					const interrupt = agent.pendingInterrupts.find(({ toolCallId }) => toolCallId === asked.id);
					const interruptId = interrupt?.id ?? background.get(asked.id) ?? "";
					return [{ interruptId, status: "resolved" as const, payload: said }];
				});
				return run(resume.length === 0 ? {} : { resume });
			},
			...kept(served),
		};
	},
	A2A: overA2a,
	"MCP of 2025": (deploy) => overMcp(deploy, "2025"),
	"MCP of 2026": (deploy) => overMcp(deploy, "2026"),
};

/** The tool of a workflow's questions, which any front end can answer, also of workflows below its agent. */
const askTool = "workflow_ask";

interface BackgroundCall {
	readonly toolCallId: string;
	readonly input: unknown;
	readonly interruptId?: string;
}

const asides: Readonly<Record<Aside, (session: ReturnType<Agent["session"]>) => unknown>> = {
	send: (session) => session.send("aside"),
	steer: (session) => session.steer("aside"),
	fork: (session) => session.fork("fork"),
	kill: (session) => session.kill(),
	approve: (session) => answerFirst(session, true),
	deny: (session) => answerFirst(session, false),
	interrupt: (session) => session.interrupt(),
	overlay: (session) => session.overlay("aside"),
	edit: async (session) => {
		const [first] = (await session.state()).messages;
		await session.edit({ kind: "update", message: new UserMessage("edited", { id: first?.id ?? "" }) });
	},
};

/** Answers the call that waits, as soon as there is one. */
async function answerFirst(session: ReturnType<Agent["session"]>, approved: boolean): Promise<void> {
	await expect.poll(() => session.pending(), { interval: 1 }).toHaveLength(1);
	const [{ toolCallId = "" } = {}] = await session.pending();
	await session.answer([{ toolCallId, approved }]);
}

async function inSession(deploy: Deploy, host: Host): Promise<Talk> {
	let agent = new Agent({ ...deploy(), host });
	const told = async (begun: Promise<Awaited<ReturnType<ReturnType<Agent["session"]>["send"]>>>) => {
		const run = await begun;
		await run.result();
		// A run that waits for its provider or a time continues by itself.
		const waits = async (): Promise<boolean> => {
			// A message that waits is a turn that begins by itself, so the inbox is read first: a message taken after that shows as open.
			const inbox = await host.journal.inbox("s");
			const open = await host.journal.list({ state: "open" });
			const isQuiet = open.length === 0 && !inbox.some(({ kind }) => kind === "message");
			return isQuiet || (await agent.session("s").pending()).length > 0;
		};
		await expect.poll(waits, { interval: 1 }).toBe(true);
		const pending = await agent.session("s").pending();
		return pending.map(({ toolCallId: id, arguments: input, awaits }): Asked => ({ id, input, awaits }));
	};
	const answersOf = (answers: readonly (readonly [Asked, Said])[]) =>
		answers.map(([{ id: toolCallId }, said]) => ({ toolCallId, ...said }));
	return {
		say: (text) => told(agent.session("s").send(text)),
		answer: (answers) => told(agent.session("s").answer(answersOf(answers))),
		answerAgain: (asked, said) => codeOf(agent.session("s").answer(answersOf([[asked, said]]))),
		async aside(what) {
			await asides[what](agent.session("s"));
			if (what !== "interrupt") return;
			// Until its end is recorded, the run waits or is under way, and an answer is refused as `session_busy`.
			for (const state of ["waiting", "open"] as const)
				await expect.poll(() => host.journal.list({ state }), { interval: 1 }).toEqual([]);
		},
		host,
		async restart() {
			await agent.close();
			agent = new Agent({ ...deploy(), host });
		},
		async close() {
			await agent.close();
			await host.close();
		},
	};
}

async function inExecuteSession(deploy: Deploy, host: Host): Promise<Talk> {
	const open = () => {
		const { tools, ...options } = deploy();
		return createSession("s", { tools } as never, { ...options, host } as never);
	};
	let session = open();
	const told = async (input: Parameters<typeof execute>[1]): Promise<readonly Asked[]> => {
		const { error, ...result } = await execute(session, input).result();
		if (error !== undefined) throw new Error(error.message);
		return callsOf(result);
	};
	return {
		say: (content) => told({ role: "user", content } as never),
		answer: (answers) => told(answers.map(messageOf) as never),
		answerAgain: (asked, said) => codeOf(told([messageOf([asked, said])] as never)),
		host,
		async restart() {
			session = open();
		},
		close: () => host.close(),
	};
}

/** What every place on a server has of it. */
function kept({
	host,
	restart,
	close,
}: Served): Pick<Talk, "host" | "close"> & Required<Pick<Talk, "restart">> {
	return { host, restart, close };
}

export function overHttp(served: Served): Talk {
	const told = async (input: unknown): Promise<readonly Asked[]> => {
		const response = await served.fetch("http://localhost/api/agent/execute", {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ sessionId: "s", input, context: {} }),
		});
		const text = await response.text();
		if (!response.ok)
			throw Object.assign(new Error(text), { code: (JSON.parse(text) as { code: string }).code });
		const events = text
			.split("\n")
			.flatMap((line) => (line.startsWith("data:") ? [JSON.parse(line.slice(5))] : []));
		return callsOf(events.find(({ type }) => type === "execute_complete") ?? {});
	};
	return {
		say: (content) => told({ role: "user", content }),
		answer: (answers) => told(answers.map(messageOf)),
		answerAgain: (asked, said) => codeOf(told([messageOf([asked, said])])),
		...kept(served),
	};
}

function inChat(served: Served, transport: ChatTransport<UIMessage>): Talk {
	const chat = new Chat<UIMessage>({ id: "s", transport });
	type Part = {
		state?: string;
		toolCallId?: string;
		input?: unknown;
		type: string;
		approval?: { id: string };
	};
	const waiting = (): readonly (Asked & { readonly part: Part })[] =>
		(chat.lastMessage?.parts ?? []).flatMap((each): (Asked & { readonly part: Part })[] => {
			const part = each as Part;
			const { toolCallId: id = "", input, state } = part;
			if (state === "approval-requested") return [{ id, input, awaits: "approval", part }];
			return state === "input-available" ? [{ id, input, awaits: "result", part }] : [];
		});
	return {
		async say(text) {
			await chat.sendMessage({ text });
			if (chat.error !== undefined) throw chat.error;
			return waiting();
		},
		async answer(answers) {
			for (const [asked, said] of answers) {
				refuseInput(said);
				const { part } = waiting().find(({ id }) => id === asked.id) ?? {};
				if ("output" in said)
					await chat.addToolOutput({ tool: "act", toolCallId: asked.id, output: said.output } as never);
				else await chat.addToolApprovalResponse({ id: part?.approval?.id ?? "", approved: said.approved });
			}
			await chat.sendMessage();
			if (chat.error !== undefined) throw chat.error;
			return waiting();
		},
		...kept(served),
	};
}
