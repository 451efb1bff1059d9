// Remote agents that want what is not theirs, say nothing, or say too much.
import { sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { memoryHost, type ToolContext } from "holdfast";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../../../test/shared/listen.fixture.ts";
import { a2aServer, remoteAgent } from "../index.ts";

const context = (over: Partial<ToolContext> = {}) =>
	({
		signal: new AbortController().signal,
		idempotencyKey: "run.1.0",
		attempt: 1,
		emit() {},
		...over,
	}) as unknown as ToolContext;

type Answer = (request: Request) => Response | Promise<Response>;

async function at(answer: Answer): Promise<string> {
	const { url, close } = await listen(answer);
	onTestFinished(close);
	return url;
}

/** An agent that works, under the address in its card; what it answers goes through `answer`. */
async function agentAt(url: string): Promise<{ fetch(request: Request): Promise<Response> }> {
	const host = memoryHost();
	const service = sessionService({ host, agent: { model: scriptedModel(() => "Yes.") } });
	onTestFinished(async () => {
		await service.close();
		await host.close();
	});
	return a2aServer({ service, name: "Other", description: "Others.", url });
}

const headers = { authorization: "Bearer secret", "x-key": "secret" };

test.each([[[]], [["own"]]])(
	"credentials go to another origin that the card names only if configured: %s",
	async (said) => {
		const seen: Headers[] = [];
		const works = await at(async (request) => {
			seen.push(request.headers);
			return agent.fetch(request);
		});
		const agent = await agentAt(works);
		const card = await at((request) => agent.fetch(request));
		const headersFor = said.length === 0 ? [] : [works];
		const remote = await remoteAgent({ url: card, headers, headersFor, pollEveryMs: 5 });
		expect(await remote.run({ prompt: "?" }, context())).toBe("Yes.");
		expect(seen.length).toBeGreaterThan(0);
		for (const each of seen) {
			expect(each.get("authorization")).toBe(said.length === 0 ? null : "Bearer secret");
			expect(each.get("x-key")).toBe(said.length === 0 ? null : "secret");
		}
	},
);

test("a server that never answers is abandoned: for its card, and for a call", async () => {
	const silent = await at(() => new Promise<Response>(() => {}));
	await expect(remoteAgent({ url: silent, silenceMs: 50 })).rejects.toMatchObject({
		code: "a2a_unreachable",
		cause: expect.objectContaining({ code: "server_silent" }),
	});
	let says = true;
	const url = await at((request) => (says ? agent.fetch(request) : new Promise<Response>(() => {})));
	const agent = await agentAt(url);
	// Long enough for the card on a busy machine.
	const remote = await remoteAgent({ url, silenceMs: 1_000, pollEveryMs: 5, maxFailures: 2 });
	says = false;
	await expect(remote.run({ prompt: "?" }, context())).rejects.toMatchObject({ code: "server_silent" });
});

test.each([true, false])(
	"an agent that works endlessly has its task cancelled at the deadline (streams: %s)",
	async (streams) => {
		const host = memoryHost();
		const service = sessionService({
			host,
			agent: { model: scriptedModel(() => new Promise<never>(() => {})) },
		});
		onTestFinished(async () => {
			await service.close({ drainMs: 0 });
			await host.close();
		});
		const methods: string[] = [];
		const url = await at(async (request) => {
			if (request.method === "POST") methods.push((await request.clone().json()).method);
			const response = await agent.fetch(request);
			if (streams || request.method !== "GET") return response;
			const card = await response.json();
			return Response.json({ ...card, capabilities: { ...card.capabilities, streaming: false } });
		});
		const agent = a2aServer({ service, name: "Other", description: "Others.", url });
		// Long enough for the task to begin on a busy machine.
		const remote = await remoteAgent({ url, pollEveryMs: 5, deadlineMs: 1_500 });
		await expect(remote.run({ prompt: "?" }, context())).rejects.toMatchObject({
			code: "a2a_task_timeout",
			data: { deadlineMs: 1_500 },
		});
		expect(methods.at(-1)).toMatch(/cancel/i);
		await expect(remoteAgent({ url, deadlineMs: -1 })).rejects.toMatchObject({ code: "invalid_option" });
	},
);

test("an endless artifact ends the call, and its task is cancelled", async () => {
	const asked: string[] = [];
	const url = await at(async (request) => {
		if (request.method === "GET") return agent.fetch(request);
		const { id, method } = await request.json();
		asked.push(method);
		if (!/stream/i.test(method))
			return Response.json({ jsonrpc: "2.0", id, error: { code: -32603, message: "no" } });
		const event = (result: object): Uint8Array =>
			new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
		const text = "x".repeat(256 * 1024);
		let isFirst = true;
		const body = new ReadableStream({
			async pull(controller) {
				await new Promise((resolve) => setImmediate(resolve));
				if (isFirst)
					controller.enqueue(
						event({
							task: {
								id: "t",
								contextId: "c",
								status: { state: "TASK_STATE_WORKING" },
								artifacts: [],
								history: [],
							},
						}),
					);
				else
					controller.enqueue(
						event({
							artifactUpdate: {
								taskId: "t",
								contextId: "c",
								append: true,
								lastChunk: false,
								artifact: { artifactId: "a", parts: [{ text }] },
							},
						}),
					);
				isFirst = false;
			},
		});
		return new Response(body, { headers: { "content-type": "text/event-stream" } });
	});
	const agent = await agentAt(url);
	const remote = await remoteAgent({ url, pollEveryMs: 5, maxAnswerBytes: 1024 * 1024 * 1024 });
	let emitted = 0;
	const emit = (delta: string): void => {
		emitted += delta.length;
	};
	await expect(remote.run({ prompt: "?" }, context({ emit }))).rejects.toMatchObject({
		code: "answer_too_large",
	});
	expect(emitted).toBeLessThanOrEqual(8 * 1024 * 1024);
	expect(asked.some((method) => /cancel/i.test(method))).toBe(true);
});
