// The places of the matrix: where an agent is used. To add a place, add an entry.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpAgent } from "@ag-ui/client";
import { Chat } from "@ai-sdk/react";
import { createClient } from "@holdfast/client";
import { HoldfastChatTransport } from "@holdfast/client/ai-sdk";
import { createHandler, sessionService } from "@holdfast/server";
import type { UIMessage } from "ai";
import { Agent, type AgentOptions, createSession, execute, type Host, memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import type { Asked, Said } from "./features.fixture.ts";

export type PlaceName =
	| "a call"
	| "a session in memory"
	| "a session on SQLite"
	| "an execute session"
	| "HTTP"
	| "the client"
	| "useChat"
	| "AG-UI";

/** A conversation in a place. Each step resolves with the calls that wait when the run does, none when it ended. */
export interface Talk {
	say(text: string): Promise<readonly Asked[]>;
	/** Answers all calls that wait. */
	answer(answers: readonly (readonly [Asked, Said])[]): Promise<readonly Asked[]>;
	/** Answers one that has its result; the code of the refusal. Absent where the place has no such request. */
	answerAgain?(asked: Asked, said: Said): Promise<string>;
	/** Ends the process's part, and begins again on the same store. Absent where nothing is stored. */
	restart?(): Promise<void>;
	close(): Promise<void>;
}

/** Makes the agent of a deployment. */
export type Deploy = () => AgentOptions;

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
	async "an execute session"(deploy) {
		const host = memoryHost();
		const open = () => createSession("s", {}, { ...deploy(), host } as never);
		let session = open();
		const told = async (input: Parameters<typeof execute>[1]): Promise<readonly Asked[]> => {
			const { pendingToolCalls = [], error } = await execute(session, input).result();
			if (error !== undefined) throw new Error(error.message);
			return pendingToolCalls.map(askedOf);
		};
		return {
			say: (content) => told({ role: "user", content } as never),
			answer: (answers) => told(answers.map(messageOf) as never),
			answerAgain: (asked, said) => codeOf(told([messageOf([asked, said])] as never)),
			async restart() {
				session = open();
			},
			close: () => host.close(),
		};
	},
	async HTTP(deploy) {
		const served = serve(deploy);
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
			const { pendingToolCalls = [] } = events.find(({ type }) => type === "execute_complete") ?? {};
			return (pendingToolCalls as Parameters<typeof askedOf>[0][]).map(askedOf);
		};
		return {
			say: (content) => told({ role: "user", content }),
			answer: (answers) => told(answers.map(messageOf)),
			answerAgain: (asked, said) => codeOf(told([messageOf([asked, said])])),
			restart: served.restart,
			close: served.close,
		};
	},
	async "the client"(deploy) {
		const served = serve(deploy);
		const client = createClient({ url: "http://localhost", fetch: served.fetch, reconnectDelayMs: 1 });
		const told = async (input: never): Promise<readonly Asked[]> => {
			const { pendingToolCalls = [] } = await client.execute({ sessionId: "s", input, context: {} }).result();
			return pendingToolCalls.map(askedOf);
		};
		return {
			say: (content) => told({ role: "user", content } as never),
			answer: (answers) => told(answers.map(messageOf) as never),
			answerAgain: (asked, said) => codeOf(told([messageOf([asked, said])] as never)),
			restart: served.restart,
			close: served.close,
		};
	},
	async useChat(deploy) {
		const served = serve(deploy);
		const transport = new HoldfastChatTransport<UIMessage>({
			url: "http://localhost",
			fetch: (url, init) => served.fetch(url, init),
			reconnectDelayMs: 1,
		});
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
					const { part } = waiting().find(({ id }) => id === asked.id) ?? {};
					if ("output" in said)
						await chat.addToolOutput({ tool: "act", toolCallId: asked.id, output: said.output } as never);
					else if (said.input !== undefined) throw Object.assign(new Error(), { code: "no_input" });
					else await chat.addToolApprovalResponse({ id: part?.approval?.id ?? "", approved: said.approved });
				}
				await chat.sendMessage();
				if (chat.error !== undefined) throw chat.error;
				return waiting();
			},
			restart: served.restart,
			close: served.close,
		};
	},
	async "AG-UI"(deploy) {
		const served = serve(deploy);
		const agent = new HttpAgent({ url: "http://localhost/api/ag-ui", threadId: "s", fetch: served.fetch });
		const run = async (parameters: Parameters<HttpAgent["runAgent"]>[0]): Promise<readonly Asked[]> => {
			const asked: Asked[] = [];
			let failed: Error | undefined;
			const inputs = new Map<string, unknown>();
			await agent.runAgent(parameters, {
				onCustomEvent: ({ event: { name, value } }) => {
					if (name === "tool_input") inputs.set(value.toolCallId, value.input);
				},
				onRunFinishedEvent: ({ event }) => {
					const { interrupts = [], pendingToolCallIds = [] } = (event.outcome ?? {}) as unknown as {
						interrupts?: { toolCallId: string; metadata: { input: unknown } }[];
						pendingToolCallIds?: string[];
					};
					for (const { toolCallId: id, metadata } of interrupts)
						asked.push({ id, input: metadata.input, awaits: "approval" });
					for (const id of pendingToolCallIds) asked.push({ id, input: inputs.get(id), awaits: "result" });
				},
				onRunFailed: ({ error }) => {
					failed = error;
				},
			});
			if (failed !== undefined) throw failed;
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
					if (said.input !== undefined) throw Object.assign(new Error(), { code: "no_input" });
					const interrupt = agent.pendingInterrupts.find(({ toolCallId }) => toolCallId === asked.id);
					const payload = { approved: said.approved };
					return [{ interruptId: interrupt?.id ?? "", status: "resolved" as const, payload }];
				});
				return run(resume.length === 0 ? {} : { resume });
			},
			restart: served.restart,
			close: served.close,
		};
	},
};

async function inSession(deploy: Deploy, host: Host): Promise<Talk> {
	let agent = new Agent({ ...deploy(), host });
	const told = async (run: Promise<Awaited<ReturnType<ReturnType<Agent["session"]>["send"]>>>) => {
		const { pending = [] } = await (await run).result();
		return pending.map(({ toolCallId: id, arguments: input, awaits }): Asked => ({ id, input, awaits }));
	};
	const answersOf = (answers: readonly (readonly [Asked, Said])[]) =>
		answers.map(([{ id: toolCallId }, said]) => ({ toolCallId, ...said }));
	return {
		say: (text) => told(agent.session("s").send(text)),
		answer: (answers) => told(agent.session("s").answer(answersOf(answers))),
		answerAgain: (asked, said) => codeOf(agent.session("s").answer(answersOf([[asked, said]]))),
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

function serve(deploy: Deploy) {
	const host = memoryHost();
	const open = () => {
		const service = sessionService({ host, agent: deploy(), deltaFlushMs: 1 } as never);
		return { service, handler: createHandler({ service }) };
	};
	let served = open();
	const end = async (): Promise<void> => {
		await served.service.close();
		await served.handler.close();
	};
	return {
		fetch: (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
			served.handler.fetch(new Request(url, init)),
		async restart() {
			await end();
			served = open();
		},
		async close() {
			await end();
			await host.close();
		},
	};
}

function onSqlite(): Host {
	return sqliteHost({ path: join(mkdtempSync(join(tmpdir(), "holdfast-matrix-")), "store.db") });
}

function askedOf({
	id,
	arguments: input,
	approval,
}: {
	id: string;
	arguments: unknown;
	approval?: true;
}): Asked {
	return { id, input, awaits: approval === true ? "approval" : "result" };
}

function messageOf([{ id: toolCallId }, said]: readonly [Asked, Said]): object {
	return { role: "output" in said ? "tool" : "approval", toolCallId, ...said };
}

async function codeOf(refused: Promise<unknown>): Promise<string> {
	try {
		await refused;
		return "taken";
	} catch (error) {
		return (error as { code?: string }).code ?? String(error);
	}
}
