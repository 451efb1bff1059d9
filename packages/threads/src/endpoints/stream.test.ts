import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { z } from "zod";
import { defineTool } from "../define/index.ts";
import { oneAgent, scripted } from "../thread/threads.fixture.ts";
import type { ToolDefinition } from "../types/index.ts";
import { served } from "./endpoints.fixture.ts";

// biome-ignore lint/suspicious/noExplicitAny: events as they came
type Seen = any;

/** A stream of server-sent events, read as it comes. */
async function sse(url: string, headers: Record<string, string> = {}) {
	const leave = new AbortController();
	onTestFinished(() => leave.abort());
	const response = await fetch(url, { headers, signal: leave.signal });
	const seen: Seen[] = [];
	const ids: string[] = [];
	const over = (async () => {
		let text = "";
		for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
			text += piece;
			const records = text.split("\n\n");
			text = records.pop() ?? "";
			for (const record of records) {
				const lines = record.split("\n");
				for (const line of lines) {
					if (line.startsWith("id: ")) ids.push(line.slice(4));
					if (line.startsWith("data: ")) seen.push(JSON.parse(line.slice(6)));
				}
			}
		}
	})().catch(() => {});
	return { status: response.status, seen, ids, over, leave: () => leave.abort() };
}

async function socket(url: string, options: object = {}) {
	const seen: Seen[] = [];
	const opened = new WebSocket(url.replace("http", "ws"), options);
	onTestFinished(() => opened.terminate());
	opened.on("message", (data) => seen.push(JSON.parse(String(data))));
	opened.on("error", () => {});
	const closed = new Promise<void>((resolve) => opened.once("close", () => resolve()));
	await new Promise<void>((resolve) => {
		opened.once("open", () => resolve());
		opened.once("close", () => resolve());
	});
	return { seen, closed, leave: () => opened.close() };
}

const note: ToolDefinition = defineTool({
	description: "Emits.",
	args: z.object({ n: z.number() }),
	async execute(state, { n }) {
		await state.emit("noted", { n });
		await state.emit("noted", { n: n + 1 });
		return { status: "success", result: `noted ${n}` };
	},
}) as ToolDefinition;

const isOver = (seen: readonly Seen[], times = 1): boolean =>
	seen.filter(({ type, status }) => type === "execution" && status === "completed").length >= times;

test("watchers over server-sent events and WebSockets get the same events in the same order [SA-076] [SA-204]", async () => {
	const provider = scripted([
		{ text: "Let me see. ", calls: [{ name: "note", args: { n: 1 } }] },
		"It is done, surely.",
	]);
	const { server, thread, ask, threads } = served(oneAgent(provider, { tools: { note } }));
	const { url } = await server.listen({ port: 0 });
	const id = await thread();
	const path = `${url}/api/threads/${id}/stream`;
	const [one, two, three] = [await sse(path), await socket(path), await socket(path)];
	await ask("POST", `/api/threads/${id}/messages`, { content: "Hi" });
	await expect.poll(() => [one, two, three].every(({ seen }) => isOver(seen))).toBe(true);
	await threads.quiet();
	expect(two.seen).toEqual(one.seen);
	expect(three.seen).toEqual(one.seen);
	const kinds = one.seen.filter(({ type }) => type !== "message_chunk");
	expect(kinds).toMatchObject([
		{ type: "execution", status: "running" },
		{ type: "message_data", data: { role: "user", content: "Hi" } },
		{ type: "message_data", data: { role: "assistant", content: "Let me see. " } },
		{ type: "telemetry", model: "main", inputTokens: 3, outputTokens: 2 },
		{ type: "event", event: "noted", data: { n: 1 } },
		{ type: "event", event: "noted", data: { n: 2 } },
		{ type: "message_data", data: { role: "tool", content: "noted 1" } },
		{ type: "message_data", data: { role: "assistant", content: "It is done, surely." } },
		{ type: "telemetry" },
		{ type: "execution", status: "completed" },
	]);
	const answers = one.seen.filter(({ type, data }) => type === "message_data" && data.role === "assistant");
	for (const { messageId, data } of answers) {
		const chunks = one.seen.filter((each) => each.type === "message_chunk" && each.messageId === messageId);
		expect(chunks.map(({ chunk }) => chunk).join("")).toBe(data.content);
		expect(chunks.map(({ index }) => index)).toEqual(chunks.map((_, at) => at));
	}
});

test("a watcher that returns with an id gets each later event once, from any position [SA-204]", async () => {
	const { server, thread, ask, threads } = served(oneAgent(scripted(["One, two, three.", "Four, five."])));
	const { url } = await server.listen({ port: 0 });
	const id = await thread();
	const path = `${url}/api/threads/${id}/stream`;
	for (const content of ["Hi", "More"]) {
		await ask("POST", `/api/threads/${id}/messages`, { content });
		await threads.quiet();
	}
	const whole = await sse(path);
	await expect.poll(() => isOver(whole.seen, 2)).toBe(true);
	expect(new Set(whole.ids).size).toBe(whole.ids.length);
	for (const [at, last] of whole.ids.entries()) {
		if (at === whole.ids.length - 1) break;
		const rest = await sse(
			at % 2 === 0 ? path : `${path}?after=${last}`,
			at % 2 === 0 ? { "last-event-id": last } : {},
		);
		await expect.poll(() => rest.seen.length).toBe(whole.seen.length - at - 1);
		expect(rest.seen).toEqual(whole.seen.slice(at + 1));
		rest.leave();
	}
	expect((await ask("GET", `/api/threads/${id}/stream?after=none`)).status).toBe(400);
	expect((await ask("GET", `/api/threads/${id}/stream?after=999999.0.0`)).status).toBe(400);
});

test("a watcher that leaves stops nothing; a change and a removal of a message are emitted [SA-204]", async () => {
	let open = (): void => {};
	const gate = new Promise<void>((resolve) => {
		open = resolve;
	});
	const provider = scripted([{ text: "Late.", gate }]);
	const routes = { clientsMaySet: ["history"] } as const;
	const { server, thread, ask, threads } = served(oneAgent(provider), { routes });
	let left = 0;
	const subscribe = threads.subscribe.bind(threads);
	threads.subscribe = (...given) => {
		const unsubscribe = subscribe(...given);
		return () => {
			left++;
			unsubscribe();
		};
	};
	const { url } = await server.listen({ port: 0 });
	const id = await thread();
	const path = `${url}/api/threads/${id}/stream`;
	const watchers = [await sse(path), await socket(path)];
	const { body } = await ask("POST", `/api/threads/${id}/messages`, { content: "Hi" });
	await expect.poll(() => watchers.every(({ seen }) => seen.length >= 2)).toBe(true);
	for (const { leave } of watchers) leave();
	// The server has noticed it, and the model has not answered yet.
	await expect.poll(() => left).toBe(1);
	for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
	open();
	await threads.quiet();
	const { messages } = (await ask("GET", `/api/threads/${id}/messages`)).body;
	expect(messages.map(({ content }: { content: string }) => content)).toEqual(["Hi", "Late."]);
	const again = await socket(path);
	await expect.poll(() => isOver(again.seen)).toBe(true);
	await ask("PATCH", `/api/threads/${id}/messages/${body.id}`, { content: "Hello" });
	await ask("DELETE", `/api/threads/${id}/messages/${messages[1].id}`);
	await expect
		.poll(() => again.seen.filter(({ type }) => type === "message_data").slice(-2))
		.toMatchObject([
			{ messageId: body.id, data: { content: "Hello" } },
			{ messageId: messages[1].id, data: null },
		]);
	await ask("DELETE", `/api/threads/${id}`);
	await again.closed;
});

test("no event contains a secret, in one piece or in several [SA-092]", async () => {
	const tell: ToolDefinition = defineTool({
		description: "Tells.",
		async execute(state) {
			await state.emit("told", { key: await state.env("KEY") });
			return { status: "success", result: await state.env("KEY") };
		},
	}) as ToolDefinition;
	const said = "It is correct horse, truly.";
	const provider = scripted([{ calls: [{ name: "tell" }] }, said]);
	const { server, thread, ask, threads } = served(oneAgent(provider, { tools: { tell } }), {
		env: { KEY: "correct horse" },
	});
	const { url } = await server.listen({ port: 0 });
	const id = await thread();
	const watcher = await sse(`${url}/api/threads/${id}/stream`);
	await ask("POST", `/api/threads/${id}/messages`, { content: "Hi" });
	await expect.poll(() => isOver(watcher.seen)).toBe(true);
	await threads.quiet();
	expect(watcher.seen).toContainEqual({ type: "event", event: "told", data: { key: "[REDACTED:secret]" } });
	const chunks = watcher.seen.filter(({ type }) => type === "message_chunk");
	expect(chunks.map(({ chunk }) => chunk).join("")).toBe(
		"It is [REDACTED:secret], truly.".slice(0, chunks.map(({ chunk }) => chunk).join("").length),
	);
	expect(JSON.stringify(watcher.seen)).not.toMatch(/correct|horse/);
	for (const rest of ["messages", "logs", "kv", "effects"]) {
		const answer = await ask("GET", `/api/threads/${id}/${rest}`);
		expect(await answer.response.text()).not.toContain("correct horse");
	}
});
