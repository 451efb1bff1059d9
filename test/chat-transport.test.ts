// The transport of @holdfast/client under the AI SDK's own `Chat`, against a server: connections that break, stops, and
// pages that are opened again.
import { Chat } from "@ai-sdk/react";
import {
	HoldfastChatTransport,
	type HoldfastChatTransportOptions,
	someMessageIsAnswered,
} from "@holdfast/client/ai-sdk";
import { createHandler, type SessionService, sessionService } from "@holdfast/server";
import { type Script, type ScriptedModel, scriptedModel } from "@holdfast/testing";
import type { UIMessage } from "ai";
import { type AgentOptions, memoryHost, tool } from "holdfast";
import { afterEach, expect, test } from "vitest";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closing.splice(0)) await close();
});

interface World {
	readonly service: SessionService;
	readonly model: ScriptedModel;
	/** Requests as they were sent. */
	readonly sent: string[];
	/** How many characters of the next answers arrive before their connection breaks. */
	readonly cuts: number[];
	/** What requests of a kind wait for, before they are sent on. */
	readonly holds: Map<"/stop" | "/chat", Promise<void>>;
	chat(options?: HoldfastChatTransportOptions, messages?: UIMessage[]): Chat<UIMessage>;
	transport(options?: HoldfastChatTransportOptions): HoldfastChatTransport<UIMessage>;
}

function serve(script: Script, tools: AgentOptions["tools"] = []): World {
	const model = scriptedModel(script);
	const host = memoryHost();
	const service = sessionService({ host, agent: { model, tools }, deltaFlushMs: 1 });
	const handler = createHandler({ service });
	closing.push(async () => {
		await service.close();
		await handler.close();
		await host.close();
	});
	const sent: string[] = [];
	const cuts: number[] = [];
	const holds: World["holds"] = new Map();
	const transport: World["transport"] = (options = {}) =>
		new HoldfastChatTransport<UIMessage>({
			url: "http://localhost",
			reconnectDelayMs: 1,
			fetch: async (url, init) => {
				const request = new Request(url, init);
				sent.push(`${request.method} ${new URL(url).pathname}`);
				for (const [ending, gate] of holds) if (request.url.endsWith(ending)) await gate;
				const response = await handler.fetch(request);
				const cut = response.headers.has("x-vercel-ai-ui-message-stream") ? cuts.shift() : undefined;
				return cut === undefined ? response : cutAfter(response, cut);
			},
			...options,
		});
	const world: World = {
		service,
		model,
		sent,
		cuts,
		holds,
		transport,
		chat: (options, messages = []) => new Chat({ id: "chat-1", transport: transport(options), messages }),
	};
	return world;
}

/** The answer as it comes over a connection that breaks. */
function cutAfter(response: Response, characters: number): Response {
	let left = characters;
	const cut = new TransformStream<string, string>({
		transform(text, controller) {
			controller.enqueue(text.slice(0, left));
			left -= text.length;
			if (left <= 0) controller.error(new TypeError("network error"));
		},
	});
	const body = response.body?.pipeThrough(new TextDecoderStream()).pipeThrough(cut) as ReadableStream<string>;
	return new Response(body.pipeThrough(new TextEncoderStream()), response);
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
	const deadline = performance.now() + 20_000;
	while (!(await holds())) {
		if (performance.now() > deadline) throw new Error(`It never came true: ${what}.`);
		await new Promise((resolve) => setTimeout(resolve, 2));
	}
}

/** Holds requests of a kind; gives what lets them go. */
function hold({ holds }: World, ending: "/stop" | "/chat"): () => void {
	const { promise, resolve } = Promise.withResolvers<void>();
	holds.set(ending, promise);
	return resolve;
}

const textOf = ({ lastMessage }: Chat<UIMessage>): string =>
	(lastMessage?.parts ?? []).map((part) => (part.type === "text" ? part.text : "")).join("");
const never = new Promise<void>(() => {});
const half = { text: "one two three", beforeDelta: (at: number) => (at === 2 ? never : undefined) };
const statusOf = async ({ service }: World) => (await service.get("default", "chat-1"))?.status;

test("wherever its connection breaks, an answer arrives once and completely", async () => {
	const whole = "one two three four five";
	for (let cut = 0; cut < 600; cut += 37) {
		const world = serve([whole]);
		world.cuts.push(cut, 90);
		const chat = world.chat();
		await chat.sendMessage({ text: "Count" });
		expect(chat.error).toBeUndefined();
		expect(textOf(chat)).toBe(whole);
		expect(chat.messages).toHaveLength(2);
		expect(world.model.requests).toHaveLength(1);
	}
});

test("stop() of a chat stops the run, and the next message waits until it has stopped", async () => {
	const world = serve([half, "Again."]);
	const letStop = hold(world, "/stop");
	const chat = world.chat();
	const sending = chat.sendMessage({ text: "Count" });
	await until("half has arrived", () => textOf(chat) === "one two");
	await chat.stop();
	await sending;
	expect(chat.status).toBe("ready");
	const next = chat.sendMessage({ text: "Once more" });
	await until("it is to be sent", () => chat.status === "submitted");
	await new Promise((resolve) => setImmediate(resolve));
	expect(world.sent).toEqual(["POST /api/chat", "POST /api/chat/chat-1/stop"]);
	letStop();
	await next;
	expect(chat.error).toBeUndefined();
	expect(textOf(chat)).toBe("Again.");
	expect(world.sent).toEqual(["POST /api/chat", "POST /api/chat/chat-1/stop", "POST /api/chat"]);
	const messages = (await world.service.get("default", "chat-1"))?.messages ?? [];
	expect(messages.map(({ role }) => role)).toEqual(["user", "aborted", "user", "assistant"]);
});

test("a stop that arrives before the message stops it, too", async () => {
	const world = serve([half]);
	const arrive = hold(world, "/chat");
	const chat = world.chat();
	const sending = chat.sendMessage({ text: "Count" });
	await until("it is sent", () => world.sent.length === 1);
	await chat.stop();
	await sending;
	arrive();
	await until("it was stopped", async () => (await statusOf(world)) === "aborted");
});

test("an answer that ends while the page opens arrives completely", async () => {
	let go = (): void => {};
	const gate = new Promise<void>((resolve) => {
		go = resolve;
	});
	const world = serve([{ text: "one two three", beforeDelta: (at) => (at === 2 ? gate : undefined) }]);
	void world.chat().sendMessage({ text: "Count" });
	await until("it runs", async () => (await statusOf(world)) === "running");
	const transport = world.transport();
	const messages = await transport.load("chat-1");
	go();
	await until("it has ended", async () => (await statusOf(world)) === "completed");
	const chat = new Chat({ id: "chat-1", transport, messages });
	await chat.resumeStream();
	expect(chat.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
	expect(textOf(chat)).toBe("one two three");
	expect(await transport.reconnectToStream({ chatId: "chat-1" })).toBeNull();
});

test("stop() of a resumed chat stops the run, too", async () => {
	const world = serve([half]);
	void world.chat().sendMessage({ text: "Count" });
	await until("it runs", async () => (await statusOf(world)) === "running");
	const chat = world.chat({}, await world.transport().load("chat-1"));
	const resuming = chat.resumeStream();
	await until("half has arrived", () => textOf(chat) === "one two");
	await chat.stop();
	await resuming;
	await until("it was stopped", async () => (await statusOf(world)) === "aborted");
});

test("leaving a stream is not a stop", async () => {
	const world = serve([half]);
	const message = { id: "m", role: "user", parts: [{ type: "text", text: "Count" }] } as const;
	const stream = await world.transport().sendMessages({
		chatId: "chat-1",
		messages: [{ ...message, parts: [...message.parts] }],
		trigger: "submit-message",
		messageId: undefined,
		abortSignal: new AbortController().signal,
	});
	const reader = stream.getReader();
	await reader.read();
	await reader.cancel();
	expect(await statusOf(world)).toBe("running");
	expect(await world.transport().stop("chat-1")).toMatchObject({ stopped: true });
});

test("an error of a server is reported, and an unreachable server is retried a limited number of times", async () => {
	const world = serve(["Never."]);
	const busy = world.chat();
	await busy.sendMessage({ text: "" });
	expect(busy.status).toBe("error");
	expect(busy.error).toMatchObject({ code: "invalid_input", status: 400 });
	let tries = 0;
	const lost = world.chat({
		maxReconnects: 2,
		fetch: () => {
			tries++;
			return Promise.reject(new TypeError("fetch failed"));
		},
	});
	await lost.sendMessage({ text: "Hello" });
	expect(lost.error).toMatchObject({ code: "connection_failed" });
	expect(tries).toBe(3);
	expect(await world.transport().reconnectToStream({ chatId: "nobody" })).toBeNull();
	expect(await world.transport().load("nobody")).toEqual([]);
});

test("an answer is regenerated and a message edited, and a page that is opened later sees the same under the same ids", async () => {
	const { chat: open, model, transport } = serve(["One.", "Two.", "Zwei.", "Drei."]);
	const chat = open();
	const said = (messages: readonly UIMessage[]): readonly string[] =>
		messages.map(
			({ id, parts }) => `${id} ${parts.flatMap((part) => (part.type === "text" ? part.text : []))}`,
		);
	await chat.sendMessage({ text: "Count." });
	await chat.sendMessage({ text: "More." });
	const [first, answer, second, other] = chat.messages.map(({ id }) => id);
	await chat.regenerate();
	expect(chat.error).toBeUndefined();
	expect(said(chat.messages)).toEqual([
		`${first} Count.`,
		`${answer} One.`,
		`${second} More.`,
		`${other} Zwei.`,
	]);
	expect(said(await transport().load(chat.id))).toEqual(said(chat.messages));
	await chat.sendMessage({ text: "Again.", messageId: first as string });
	expect(said(chat.messages)).toEqual([`${first} Again.`, `${answer} Drei.`]);
	expect(said(await transport().load(chat.id))).toEqual(said(chat.messages));
	expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toMatch(/Count|One|More|Two|Zwei/);
});

test("a message that is sent while an approval waits is answered after it", async () => {
	const erase = tool({ name: "erase", description: "Erases.", needsApproval: true, run: () => "erased" });
	const world = serve([{ toolCalls: [{ name: "erase" }] }, "Erased.", "Four."], [erase]);
	const chat = new Chat<UIMessage>({
		id: "chat-1",
		transport: world.transport(),
		sendAutomaticallyWhen: someMessageIsAnswered,
	});
	await chat.sendMessage({ text: "Erase" });
	await chat.sendMessage({ text: "And what is two and two?" });
	expect(chat.error).toBeUndefined();
	const [, asking] = chat.messages;
	const part = asking?.parts.find((each) => "approval" in each) as { approval: { id: string } };
	await chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
	await until(
		"both are answered",
		async () => (await statusOf(world)) === "completed" && world.model.requests.length === 3,
	);
	await until("the page is ready", () => chat.status === "ready");
	expect(JSON.stringify(chat.messages[1])).toContain("Erased.");
	const messages = await world.transport().load("chat-1");
	expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
	expect(JSON.stringify(messages[3])).toContain("Four.");
	expect(chat.error).toBeUndefined();
});
