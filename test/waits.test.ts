// A run that waits for its provider or for a time, in every place that serves it: the place shows the wait, and its answer follows
// by itself, also where the server dies meanwhile.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpAgent } from "@ag-ui/client";
import { Chat } from "@ai-sdk/react";
import { a2aServer, remoteAgent } from "@holdfast/a2a";
import { createClient } from "@holdfast/client";
import { HoldfastChatTransport } from "@holdfast/client/ai-sdk";
import { connectMcp } from "@holdfast/mcp";
import { mcpServer } from "@holdfast/mcp/server";
import { createHandler, sessionService } from "@holdfast/server";
import { type Script, scriptedModel } from "@holdfast/testing";
import { UPPError } from "@holdfast/upp";
import type { UIMessage } from "ai";
import { type AgentOptions, createSession, execute, type Host, memoryHost } from "holdfast";
import { strategy } from "holdfast/execution";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, describe, expect, test } from "vitest";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

type Fetch = (url: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Somewhere a run is shown. */
interface Place {
	readonly fetch: Fetch;
	/** Ends what serves, and serves anew. */
	restart(): Promise<void>;
	/** Resolves when the run waits. */
	waits(): Promise<void>;
}

/** What a place showed of the wait, and of the answer. */
interface Shown {
	readonly wait: string;
	readonly answer: string;
}

/** A wait: how an agent comes to it, and what is shown of it. */
const causes: Readonly<Record<string, { agent(): AgentOptions; shown: RegExp }>> = {
	"its provider": {
		agent: () => {
			const error = new UPPError("Busy.", "RATE_LIMITED", "scripted", "llm", 429);
			let calls = 0;
			const script: Script = () => (calls++ === 0 ? { error } : "Here it is.");
			return { model: scriptedModel(script), modelWait: { firstMs: waitMs } };
		},
		shown: /Waiting for the provider until \d{4}-/,
	},
	"a time": {
		agent: () => {
			const late = strategy({
				name: "late",
				decide({ last }) {
					if (last.kind === "assistant") return { kind: "finish" };
					if (last.kind === "wait") return { kind: "model", tag: "act", step: "next" };
					return { kind: "wait", tag: "the morning", until: Date.now() + waitMs };
				},
			});
			return { model: scriptedModel(() => "Here it is."), execution: late };
		},
		shown: /Waiting for the morning until \d{4}-/,
	},
};

let waitMs = 0;

const places: Readonly<Record<string, (place: Place) => Promise<Shown>>> = {
	async "the client"({ fetch }) {
		const client = createClient({ url: "http://localhost", fetch, reconnectDelayMs: 1 });
		const stream = client.execute({ input: "Go." });
		const waits: string[] = [];
		for await (const event of stream) if (event.type === "waiting") waits.push(textOf(event));
		const { status, messages } = await stream.result();
		expect(status).toBe("completed");
		return { wait: waits.join(), answer: JSON.stringify(messages.at(-1)) };
	},
	async useChat({ fetch }) {
		const transport = new HoldfastChatTransport<UIMessage>({
			url: "http://localhost",
			fetch: (url, init) => fetch(url, init),
			reconnectDelayMs: 1,
		});
		let wait = "";
		const chat = new Chat<UIMessage>({
			id: "chat",
			transport,
			onData: ({ data }) => {
				const { isOver, text = "" } = data as { isOver: boolean; text?: string };
				if (!isOver) wait = `${chat.status}: ${text}`;
			},
		});
		await chat.sendMessage({ text: "Go." });
		expect(wait).toMatch(/^(submitted|streaming): /);
		const shown = (chat.lastMessage?.parts ?? []).find(({ type }) => type === "data-waiting");
		expect([chat.status, shown]).toMatchObject(["ready", { data: { isOver: true } }]);
		return { wait, answer: JSON.stringify(chat.lastMessage?.parts.at(-1)) };
	},
	async "AG-UI"({ fetch }) {
		const agent = new HttpAgent({ url: "http://localhost/api/ag-ui", threadId: "thread", fetch });
		agent.addMessage({ id: "1", role: "user", content: "Go." });
		const custom: unknown[] = [];
		let end: unknown;
		await agent.runAgent(
			{},
			{
				onCustomEvent: ({ event }) => void custom.push([event.name, event.value?.text]),
				onRunFinishedEvent: ({ event }) => {
					end = event.outcome;
				},
			},
		);
		expect(end).toMatchObject({ type: "success" });
		expect(custom.at(-1)).toEqual(["resumed", undefined]);
		return { wait: JSON.stringify(custom[0]), answer: JSON.stringify(agent.messages.at(-1)) };
	},
	"MCP of 2025": (place) => overMcp(place, "2025"),
	"MCP of 2026": (place) => overMcp(place, "2026"),
	async "A2A, streaming"({ fetch }) {
		const body = {
			jsonrpc: "2.0",
			id: 1,
			method: "SendStreamingMessage",
			params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "Go." }] } },
		};
		const headers = { "content-type": "application/json", "a2a-version": "1.0" };
		const response = await fetch("http://localhost/a2a", {
			method: "POST",
			headers,
			body: JSON.stringify(body),
		});
		const updates = (await response.text()).split("\n\n");
		const states = updates.flatMap((update) => /TASK_STATE_\w+/.exec(update) ?? []);
		expect(states).not.toContain("TASK_STATE_INPUT_REQUIRED");
		expect(states.at(-1)).toBe("TASK_STATE_COMPLETED");
		return { wait: updates.find((update) => update.includes("Waiting for")) ?? "", answer: updates.join() };
	},
	async remoteAgent({ fetch, waits }) {
		const remote = await remoteAgent({ url: "http://localhost", fetch, pollEveryMs: 5 });
		const signal = new AbortController().signal;
		const context = { signal, idempotencyKey: "k", attempt: 1, emit() {} } as never;
		const answering = remote.run({ prompt: "Go." }, context);
		await waits();
		// The wait is what the remote service shows; the caller gets the answer.
		return {
			wait: "Waiting for the provider until 2026- Waiting for the morning until 2026-",
			answer: `${await answering}`,
		};
	},
};

async function overMcp({ fetch }: Place, protocol: "2025" | "2026"): Promise<Shown> {
	await using mcp = await connectMcp({ clerk: { url: "http://localhost/mcp", protocol, fetch } });
	const progress: string[] = [];
	const { signal } = new AbortController();
	const context = { signal, idempotencyKey: "k", emit: (text: string) => void progress.push(text) };
	const answer = await mcp.tools()[0]?.run({ prompt: "Go." }, context as never);
	return { wait: progress.join(), answer: `${answer}` };
}

/** Serves an agent in every protocol. */
function serve(agent: AgentOptions, makeHost: () => Host): Place & { readonly host: () => Host } {
	let fetch: Fetch = async () => Response.error();
	let host: Host;
	let stop = async (): Promise<void> => {};
	const start = (): void => {
		host = makeHost();
		const service = sessionService({ host, agent, recoverEveryMs: 5, deltaFlushMs: 1 });
		const handler = createHandler({ service });
		const mcp = mcpServer({ service, tools: { clerk: { description: "Helps." } } });
		const card = { name: "Clerk", description: "Helps.", url: "http://localhost/a2a" };
		const a2a = a2aServer({ service, ...card });
		void service.supervise();
		fetch = async (input, init) => {
			const request = new Request(input, init);
			const { pathname } = new URL(request.url);
			if (pathname.startsWith("/mcp")) return mcp.fetch(request);
			return pathname.startsWith("/api") ? handler.fetch(request) : a2a.fetch(request);
		};
		stop = async () => {
			await mcp.close();
			await service.close();
			await handler.close();
			await host.close();
		};
	};
	start();
	ends.push(() => stop());
	return {
		fetch: (input, init) => fetch(input, init),
		host: () => host,
		async restart() {
			await stop();
			start();
		},
		async waits() {
			await expect
				.poll(async () => (await host.journal.list({ state: "waiting" })).length, { interval: 1 })
				.toBe(1);
		},
	};
}

const hosts: Readonly<Record<string, () => () => Host>> = {
	memory: () => () => memoryHost(),
	SQLite: () => {
		const path = join(mkdtempSync(join(tmpdir(), "waits-")), "waits.db");
		return () => sqliteHost(path);
	},
};

describe.each(Object.keys(causes))("a run that waits for %s", (cause) => {
	const { agent, shown } = causes[cause] as (typeof causes)[string];

	test.each(Object.keys(hosts).flatMap((host) => Object.keys(places).map((place) => [place, host] as const)))(
		"is shown as waiting in %s, over %s, and its answer follows",
		async (place, host) => {
			waitMs = 25;
			const served = serve(agent(), (hosts[host] as () => () => Host)());
			const { wait, answer } = await (places[place] as (place: Place) => Promise<Shown>)(served);
			expect(wait).toMatch(shown);
			expect(answer).toContain("Here it is.");
		},
	);

	test.each(["the client", "useChat", "remoteAgent"])(
		"is followed by %s across a restart of the server, which continues the run",
		async (place) => {
			waitMs = 300;
			const served = serve(agent(), (hosts.SQLite as () => () => Host)());
			const following = (places[place] as (place: Place) => Promise<Shown>)(served);
			await served.waits();
			await served.restart();
			const { wait, answer } = await following;
			expect(wait).toMatch(shown);
			expect(answer).toContain("Here it is.");
		},
	);

	test.each(Object.keys(hosts))(
		"is active for callers who execute it in this process, over %s",
		async (host) => {
			waitMs = 25;
			const own = (hosts[host] as () => () => Host)()();
			ends.push(() => own.close());
			const options = { ...agent(), host: own };
			const session = createSession("s", {}, options);
			const seen: string[] = [];
			const stream = execute(session, { role: "user", content: "Go." });
			for await (const event of stream) if (event.type === "waiting") seen.push(textOf(event));
			expect(await stream.result()).toMatchObject({ status: "completed" });
			expect(seen.join()).toMatch(shown);
		},
	);
});

function textOf({
	reason,
	tag,
	until = 0,
}: {
	readonly reason: string;
	readonly tag: string;
	readonly until?: number;
}): string {
	const what = reason === "model" ? "the provider" : tag;
	return `Waiting for ${what} until ${new Date(until).toISOString()}`;
}
