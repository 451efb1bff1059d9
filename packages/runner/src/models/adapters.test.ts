// Adapters on the wire: what they send to a service, and what they read of its answer.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { configured } from "../agent/agent.fixture.ts";
import { RunnerAgent } from "../agent/index.ts";
import type { LLMClient } from "../contract/index.ts";
import { anthropicClient, localClient, openaiClient } from "./index.ts";

interface Received {
	readonly url: string;
	readonly headers: IncomingMessage["headers"];
	readonly body: Record<string, unknown> & { stream?: boolean };
}

const closing: (() => void)[] = [];
afterEach(() => {
	for (const close of closing.splice(0)) close();
});

async function served(answer: (received: Received, response: ServerResponse) => unknown) {
	const received: Received[] = [];
	const server = createServer(async (request, response) => {
		let text = "";
		for await (const piece of request) text += piece;
		const one = { url: request.url ?? "", headers: request.headers, body: JSON.parse(text) };
		received.push(one);
		answer(one, response);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	closing.push(() => {
		server.closeAllConnections();
		server.close();
	});
	return { received, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` };
}

function json(
	response: ServerResponse,
	body: unknown,
	status = 200,
	headers: Record<string, string> = {},
): void {
	response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

function events(response: ServerResponse, lines: readonly string[]): void {
	response
		.writeHead(200, { "content-type": "text/event-stream" })
		.end(lines.map((line) => `${line}\n\n`).join(""));
}

/** A service of the shape of OpenAI's: "Hello", and 7 and 2 tokens. */
function chat({ body }: Received, response: ServerResponse): unknown {
	const about = { id: "c", created: 1, model: "m" };
	const usage = { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 };
	if (body.stream !== true) {
		const message = { role: "assistant", content: "Hello" };
		return json(response, {
			...about,
			object: "chat.completion",
			choices: [{ index: 0, message, finish_reason: "stop" }],
			usage,
		});
	}
	const chunk = (delta: object, finish_reason: string | null = null) =>
		`data: ${JSON.stringify({ ...about, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}`;
	return events(response, [
		chunk({ role: "assistant", content: "Hel" }),
		chunk({ content: "lo" }),
		chunk({}, "stop"),
		`data: ${JSON.stringify({ ...about, object: "chat.completion.chunk", choices: [], usage })}`,
		"data: [DONE]",
		"data: this is after the end",
	]);
}

/** A service of the shape of Anthropic's. */
function messages({ body }: Received, response: ServerResponse): unknown {
	const about = { id: "m", type: "message", role: "assistant", model: "m" };
	const usage = { input_tokens: 7, output_tokens: 2 };
	if (body.stream !== true)
		return json(response, {
			...about,
			content: [{ type: "text", text: "Hello" }],
			stop_reason: "end_turn",
			stop_sequence: null,
			usage,
		});
	const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}`;
	return events(response, [
		event({
			type: "message_start",
			message: { ...about, content: [], usage: { input_tokens: 7, output_tokens: 1 } },
		} as never),
		event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } as never),
		event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } } as never),
		event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } } as never),
		event({ type: "content_block_stop", index: 0 } as never),
		event({
			type: "message_delta",
			delta: { stop_reason: "end_turn", stop_sequence: null },
			usage: { output_tokens: 2 },
		} as never),
		event({ type: "message_stop" }),
	]);
}

async function streamed(client: LLMClient, prompt: Parameters<LLMClient["call"]>[0]) {
	let text = "";
	let usage: unknown;
	for await (const chunk of client.stream?.(prompt) ?? []) {
		text += chunk.text;
		usage = chunk.usage ?? usage;
	}
	return { text, usage };
}

const key = "sk-very-secret-0123456789";
const openai = (baseUrl: string) => openaiClient({ model: "m", apiKey: key, baseUrl });
const anthropic = (baseUrl: string) => anthropicClient({ model: "m", apiKey: key, baseUrl });
const local = (baseUrl: string) => localClient({ model: "m", baseUrl });
const adapters = [
	["OpenAI's", openai, chat],
	["Anthropic's", anthropic, messages],
	["a local one", local, chat],
] as const;

describe.each(adapters)("the adapter of %s", (_, make, answer) => {
	test("treats a text and one message of the user alike, and streams the text of a call [RUN-058] [RUN-059]", async () => {
		const { received, baseUrl } = await served(answer);
		const client = make(baseUrl);
		const usage = { inputTokens: 7, outputTokens: 2 };
		expect(await client.call("x")).toMatchObject({ text: "Hello", usage });
		expect(await client.call([{ role: "user", content: "x" }])).toMatchObject({ text: "Hello", usage });
		expect(received[1]?.body).toEqual(received[0]?.body);
		expect(await streamed(client, "x")).toEqual({ text: "Hello", usage });
		expect(await streamed(client, [{ role: "user", content: "x" }])).toEqual({ text: "Hello", usage });
		expect(received[3]?.body).toEqual(received[2]?.body);
	});

	test.each([
		[429, true],
		[500, true],
		[503, true],
		[400, false],
		[401, false],
		[403, false],
	])("marks %i as retryable: %s, and never contains the key [RUN-063]", async (status, retriable) => {
		const { baseUrl } = await served((_received, response) =>
			json(response, { error: { message: `Refused: ${key} is wrong`, type: "x" } }, status, {
				"retry-after": "0.05",
			}),
		);
		for (const fails of [() => make(baseUrl).call("x"), () => streamed(make(baseUrl), "x")]) {
			const error = await fails().then(
				() => undefined,
				(thrown) => thrown,
			);
			expect(error.retryable ?? error.retriable).toBe(retriable);
			if (retriable) expect(error.retryAfterMs).toBe(50);
			const { message, stack, code, data, cause } = error;
			if (make !== local)
				expect(JSON.stringify([message, stack, code, data, cause?.message])).not.toContain(key);
		}
	});

	test("whose connection is refused is retryable [RUN-062] [RUN-063]", async () => {
		const { baseUrl } = await served(answer);
		for (const close of closing.splice(0)) close();
		const config = configured([], {
			planner: {
				plan: (_state, { callModel }) =>
					callModel({ messages: [{ role: "user", content: "x" }] }).then(() => ({ type: "finish" })),
			},
			modelProviders: [make(baseUrl), { call: async () => ({ text: "other" }) }],
		});
		const result = await new RunnerAgent(config).runOnce();
		expect(result.modelCalls).toMatchObject([
			{ outcome: "failed", error: { code: "MODEL_UNAVAILABLE" } },
			{ outcome: "ok" },
		]);
	});

	test("cancels the request of a stream that is left [RUN-009]", async () => {
		const gone = Promise.withResolvers<void>();
		const { baseUrl } = await served((received, response) => {
			response.on("close", gone.resolve);
			const untilFirst = (text: string) => text.slice(0, text.indexOf("\n\n", text.indexOf("Hel")) + 2);
			response.end = ((text: string) => response.write(untilFirst(text))) as never;
			answer(received, response);
		});
		for await (const { text } of make(baseUrl).stream?.("x") ?? []) {
			expect(text).toBe("Hel");
			break;
		}
		await gone.promise;
	});

	test("cancels active calls when it is closed, and accepts no further call [RUN-064]", async () => {
		const gone = Promise.withResolvers<void>();
		const { baseUrl, received } = await served(
			(_received, response) => void response.on("close", gone.resolve),
		);
		const client = make(baseUrl);
		const inFlight = client.call("x");
		inFlight.catch(() => {});
		await expect.poll(() => received.length).toBe(1);
		await client.close?.();
		await client.close?.();
		await expect(inFlight).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
		await gone.promise;
		await expect(client.call("x")).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
		await expect(streamed(client, "x")).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
		const unused = make(baseUrl);
		await unused.close?.();
		await expect(unused.call("x")).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
		await expect(streamed(unused, "x")).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
		expect(received).toHaveLength(1);
	});
});

test("OpenAI's posts to chat/completions with a bearer key, and reads the answer completely [RUN-060]", async () => {
	const { received, baseUrl } = await served(chat);
	const answer = { text: "Hello", usage: { inputTokens: 7, outputTokens: 2 } };
	expect(await openai(baseUrl).call("x")).toMatchObject(answer);
	expect(await streamed(openai(baseUrl), "x")).toEqual(answer);
	for (const { url, headers } of received) {
		expect(url).toBe("/v1/chat/completions");
		expect(headers.authorization).toBe(`Bearer ${key}`);
	}
});

test("Anthropic's posts to v1/messages with its headers, and moves system messages to `system` [RUN-061]", async () => {
	const { received, baseUrl } = await served(messages);
	const { usage } = await anthropic(baseUrl).call([
		{ role: "system", content: "Be kind." },
		{ role: "user", content: "x" },
	]);
	expect(usage).toEqual({ inputTokens: 7, outputTokens: 2 });
	const [{ url, headers, body } = {} as Received] = received;
	expect([url, headers?.["x-api-key"]]).toEqual(["/v1/messages", key]);
	expect(headers?.["anthropic-version"]).toMatch(/^\d{4}-\d{2}-\d{2}$/);
	expect(JSON.stringify(body?.system)).toContain("Be kind.");
	expect(JSON.stringify(body?.messages)).not.toContain("Be kind.");
});

test("a local one sends no key [RUN-062]", async () => {
	const { received, baseUrl } = await served(chat);
	await local(baseUrl).call("x");
	expect(received[0]?.headers.authorization).toBeUndefined();
	expect(received[0]?.url).toBe("/v1/chat/completions");
});

test("outputs of tools reach a model as results of calls, under names that it accepts", async () => {
	const { received, baseUrl } = await served(chat);
	await openai(baseUrl).call([
		{ role: "user", content: "x" },
		{ role: "tool", toolId: "my tool!", content: "the output" },
	]);
	const sent = received[0]?.body.messages as { role: string; content: unknown }[];
	expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
	expect(JSON.stringify(sent)).toContain("my_tool_");
});
