// A remote agent as a sub-agent: over HTTP on loopback, with agents that stream, that do not, that die and that come back.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Message, type Part, type Task, TaskState } from "@a2a-js/sdk";
import { sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { Agent, agent, memoryHost, type ToolContext } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { type Listening, listen } from "../../../../test/shared/listen.fixture.ts";
import { a2aServer, remoteAgent } from "../index.ts";
import { dataPart, textPart } from "../parts.ts";
import { readTask } from "./read-task.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

interface Remote {
	readonly url: string;
	/** Names of the operations that were asked for. */
	readonly asked: string[];
	stop(): Promise<void>;
	start(): Promise<string>;
}

async function serve(
	model: ReturnType<typeof scriptedModel>,
	{ tools = [], streams = true }: { tools?: readonly object[]; streams?: boolean } = {},
): Promise<Remote> {
	const host = memoryHost();
	const service = sessionService({ host, agent: { model, tools } });
	const asked: string[] = [];
	let listening: Listening | undefined;
	let port = 0;
	const start = async (): Promise<string> => {
		listening = await listen(async (request) => {
			if (request.method === "POST") asked.push((await request.clone().json()).method);
			const response = await server.fetch(request);
			if (request.method === "POST" || streams) return response;
			const card = await response.json();
			return Response.json({ ...card, capabilities: { ...card.capabilities, streaming: false } });
		}, port);
		({ port } = listening);
		return listening.url;
	};
	const url = await start();
	const stop = async (): Promise<void> => {
		await listening?.close();
		listening = undefined;
	};
	const server = a2aServer({ service, name: "The Researcher", description: "Researches facts.", url });
	ends.push(
		() => host.close(),
		() => service.close(),
		stop,
	);
	return { url, asked, stop, start };
}

const context = (over: Partial<ToolContext> = {}) =>
	({
		signal: new AbortController().signal,
		idempotencyKey: "run.1.0",
		attempt: 1,
		emit() {},
		...over,
	}) as unknown as ToolContext;

describe.each([true, false])("if the agent streams: %s", (streams) => {
	test("it is a tool, whose result is the agent's answer", async () => {
		const { url } = await serve(scriptedModel(["147,000."]), { streams });
		const research = await remoteAgent({ url, pollEveryMs: 5 });
		expect(research).toMatchObject({ name: "ask_the_researcher", retryPolicy: "idempotent" });
		expect(research.description).toContain("Researches facts.");
		const model = scriptedModel([
			{ toolCalls: [{ name: "ask_the_researcher", arguments: { prompt: "How large is Bern?" } }] },
			"147,000 people.",
		]);
		const { turn } = await agent({ model, tools: [research] }).generate("How large is Bern?");
		expect(turn.toolExecutions[0]?.result).toBe("147,000.");
		expect(turn.response.text).toBe("147,000 people.");
	});

	test("a failure of the remote agent is an error of the call", async () => {
		const { url } = await serve(scriptedModel([{ error: new Error("secret") }]), { streams });
		const research = await remoteAgent({ url, pollEveryMs: 5 });
		await expect(research.run({ prompt: "?" }, context())).rejects.toMatchObject({
			code: "a2a_task_failed",
			data: { state: "failed" },
		});
	});

	test("a request for input goes to the model, which answers the same task", async () => {
		const ask = { name: "ask", description: "Asks.", parameters: { type: "object" } };
		const { url } = await serve(scriptedModel([{ toolCalls: [{ name: "ask" }] }, "Blue."]), {
			tools: [ask],
			streams,
		});
		const research = await remoteAgent({ url, pollEveryMs: 5 });
		const first = (await research.run({ prompt: "?" }, context())) as { task: string };
		expect(first).toMatchObject({ status: "input-required", message: expect.stringContaining("ask") });
		const { task } = first;
		expect(await research.run({ prompt: "blue", task }, context({ idempotencyKey: "run.2.0" }))).toBe(
			"Blue.",
		);
	});

	test("cancelling the call cancels the task there", async () => {
		let stopped: (() => void) | undefined;
		const isStopped = new Promise<void>((resolve) => {
			stopped = resolve;
		});
		let running: (() => void) | undefined;
		const isRunning = new Promise<void>((resolve) => {
			running = resolve;
		});
		const wait = {
			name: "wait",
			description: "Waits.",
			run: (_: unknown, { signal }: ToolContext) => {
				running?.();
				return new Promise<string>(() => signal.addEventListener("abort", () => stopped?.()));
			},
		};
		const { url } = await serve(scriptedModel([{ toolCalls: [{ name: "wait" }] }]), {
			tools: [wait],
			streams,
		});
		const research = await remoteAgent({ url, pollEveryMs: 5 });
		const stop = new AbortController();
		const calling = research.run({ prompt: "?" }, context({ signal: stop.signal })).catch(() => {});
		await isRunning;
		stop.abort();
		await Promise.all([calling, isStopped]);
	});
});

test("an attempt after a crash finds the task of the previous one, and creates no other", async () => {
	const model = scriptedModel(["Once."]);
	const { url, asked } = await serve(model);
	const research = await remoteAgent({ url, pollEveryMs: 5 });
	expect(await research.run({ prompt: "?" }, context())).toBe("Once.");
	expect(await research.run({ prompt: "?" }, context({ attempt: 2 }))).toBe("Once.");
	expect(asked.filter((method) => method === "SendStreamingMessage")).toHaveLength(1);
	// Nor does the message itself, where the agent could not be asked for its tasks.
	expect(await research.run({ prompt: "?" }, context())).toBe("Once.");
	expect(model.requests).toHaveLength(1);
});

test("an attempt after a crash answers a task once", async () => {
	const ask = { name: "ask", description: "Asks.", parameters: { type: "object" } };
	const model = scriptedModel([{ toolCalls: [{ name: "ask" }] }, "Blue."]);
	const { url } = await serve(model, { tools: [ask] });
	const research = await remoteAgent({ url, pollEveryMs: 5 });
	const { task } = (await research.run({ prompt: "?" }, context())) as { task: string };
	const again = context({ idempotencyKey: "run.2.0", attempt: 2 });
	expect(await research.run({ prompt: "blue", task }, again)).toBe("Blue.");
	expect(await research.run({ prompt: "blue", task }, again)).toBe("Blue.");
	expect(model.requests).toHaveLength(2);
});

test("an attempt after a crash sends the message if the previous one did not", async () => {
	const { url } = await serve(scriptedModel(["First."]));
	const research = await remoteAgent({ url, pollEveryMs: 5 });
	expect(await research.run({ prompt: "?" }, context({ attempt: 2 }))).toBe("First.");
});

test("a process that dies in the call is followed by one that waits for the same task", async () => {
	const folder = await mkdtemp(join(tmpdir(), "holdfast-a2a-"));
	ends.push(() => rm(folder, { recursive: true, force: true }));
	let answer: (text: string) => void = () => {};
	const remote = scriptedModel(() => new Promise<string>((resolve) => (answer = resolve)));
	const { url } = await serve(remote);
	const tools = [await remoteAgent({ url, pollEveryMs: 5, name: "research" })];
	const call = { toolCalls: [{ name: "research", arguments: { prompt: "?" } }] };

	const first = sqliteHost(join(folder, "sessions.db"));
	const one = new Agent({ model: scriptedModel([call]), tools, host: first });
	void (await one.session("s").send("Ask.")).result();
	await expect.poll(() => remote.requests.length).toBe(1);
	await one.close(); // the run is suspended in the middle of the call
	await first.close();

	const second = sqliteHost(join(folder, "sessions.db"));
	ends.push(() => second.close());
	const two = new Agent({ model: scriptedModel(["It says: here."]), tools, host: second });
	ends.push(() => two.close());
	const resumed = await two.session("s").resume();
	const result = resumed?.result();
	await expect.poll(async () => (await two.session("s").state()).messages.length).toBeGreaterThan(0);
	answer("Here.");
	expect((await result)?.text).toBe("It says: here.");
	expect(remote.requests).toHaveLength(1);
});

test("a broken stream is resumed", async () => {
	let answer: () => void = () => {};
	const isAnswered = new Promise<void>((resolve) => {
		answer = resolve;
	});
	const remote = scriptedModel([
		{ text: "Here. There.", deltas: 2, beforeDelta: (index) => (index === 1 ? isAnswered : undefined) },
	]);
	const { url, asked, stop, start } = await serve(remote);
	const research = await remoteAgent({ url, pollEveryMs: 5, maxFailures: 1_000_000 });
	const heard: string[] = [];
	const calling = research.run({ prompt: "?" }, context({ emit: (text) => void heard.push(text) }));
	await expect.poll(() => heard.length).toBeGreaterThan(0);
	await stop();
	await start();
	answer();
	expect(await calling).toBe("Here. There.");
	expect(remote.requests).toHaveLength(1);
	expect(asked.filter((method) => method === "SendStreamingMessage")).toHaveLength(1);
});

test("an agent that does not come back is abandoned", async () => {
	const remote = scriptedModel(() => new Promise<string>(() => {}));
	const { url, asked, stop } = await serve(remote, { streams: false });
	const research = await remoteAgent({ url, pollEveryMs: 1, maxFailures: 2 });
	const calling = research.run({ prompt: "?" }, context());
	calling.catch(() => {});
	await expect.poll(() => asked.includes("GetTask")).toBe(true);
	await stop();
	await expect(calling).rejects.toMatchObject({ code: "a2a_task_lost", retryable: true });
});

test("headers are sent, and a missing agent is reported", async () => {
	const { url } = await serve(scriptedModel(["Hello."]));
	const seen: (string | null)[] = [];
	const research = await remoteAgent({
		url,
		headers: { authorization: "Bearer 1" },
		fetch: (input, init) => {
			seen.push(new Headers(init?.headers).get("authorization"));
			return fetch(input, init);
		},
	});
	await research.run({ prompt: "?" }, context());
	expect(new Set(seen)).toEqual(new Set(["Bearer 1"]));
	expect(seen.length).toBeGreaterThan(1);
	const nothing = await listen(() => new Response(undefined, { status: 404 }));
	ends.push(() => nothing.close());
	await expect(remoteAgent({ url: nothing.url })).rejects.toMatchObject({ code: "a2a_unreachable" });
});

describe("the result of a task", () => {
	const task = (state: TaskState, parts: Part[], said: Part[] = []): Task => ({
		id: "t",
		contextId: "c",
		status: {
			state,
			message: said.length === 0 ? undefined : ({ parts: said } as Message),
			timestamp: undefined,
		},
		artifacts: [{ artifactId: "", name: "", description: "", parts, metadata: undefined, extensions: [] }],
		history: [],
		metadata: undefined,
	});
	const done = TaskState.TASK_STATE_COMPLETED;
	const raw = (mediaType: string, filename = ""): Part => ({
		content: { $case: "raw", value: Buffer.from("png") },
		metadata: undefined,
		filename,
		mediaType,
	});

	test("is text, data, or content with pictures", () => {
		expect(readTask(task(done, [textPart("a"), textPart("b")]))).toBe("a\nb");
		expect(readTask(task(done, [textPart("a"), dataPart({ b: 1 })]))).toEqual({ b: 1 });
		expect(readTask(task(done, [dataPart(1), dataPart(2)]))).toBe("1\n2");
		expect(readTask(task(done, [raw("image/png"), raw("application/pdf", "a.pdf"), raw("x/y")]))).toEqual([
			{ type: "image", source: { type: "base64", data: "cG5n" }, mimeType: "image/png" },
			{
				type: "document",
				source: { type: "base64", data: "cG5n" },
				mimeType: "application/pdf",
				title: "a.pdf",
			},
			{ type: "text", text: "[file x/y 3 bytes]" },
		]);
		expect(readTask({ ...task(done, [], [textPart("said")]), artifacts: [] })).toBe("said");
	});

	test.each([
		[TaskState.TASK_STATE_FAILED, "failed"],
		[TaskState.TASK_STATE_CANCELED, "cancelled"],
		[TaskState.TASK_STATE_REJECTED, "rejected"],
		[TaskState.TASK_STATE_UNSPECIFIED, "unknown"],
	])("is an error in the state %i", (state, name) => {
		expect(() => readTask(task(state, [], [textPart("why")]))).toThrow(
			expect.objectContaining({ code: "a2a_task_failed", message: expect.stringContaining(`${name}: why`) }),
		);
	});

	test("is plain data, for anything that the agent sends", () => {
		const content = fc.oneof(
			fc.record({ $case: fc.constant("text"), value: fc.string() }),
			fc.record({ $case: fc.constant("url"), value: fc.string() }),
			fc.record({ $case: fc.constant("data"), value: fc.option(fc.json().map((text) => JSON.parse(text))) }),
			fc.record({ $case: fc.constant("raw"), value: fc.uint8Array().map((bytes) => Buffer.from(bytes)) }),
			fc.constant(undefined),
		);
		const part = fc.record({ content, filename: fc.string(), mediaType: fc.string() });
		fc.assert(
			fc.property(fc.array(part), (parts) => {
				const result = readTask(task(done, parts as Part[]));
				expect(result).not.toBeUndefined();
				expect(typeof JSON.stringify(result)).toBe("string");
			}),
		);
	});
});

test("an agent that supports only HTTP+JSON is called, followed and cancelled with it", async () => {
	const host = memoryHost();
	let answers = 0;
	const model = scriptedModel(() => (answers++ === 0 ? "147,000." : new Promise<string>(() => {})));
	const service = sessionService({ host, agent: { model } });
	const paths: string[] = [];
	const listening = await listen(async (request) => {
		const { pathname } = new URL(request.url);
		if (request.method === "POST") paths.push(pathname.replace(/^.*(?=:)/, ""));
		const response = await server.fetch(request);
		if (!pathname.endsWith("agent-card.json")) return response;
		const card = await response.json();
		const only = (each: { protocolBinding: string }) => each.protocolBinding === "HTTP+JSON";
		return Response.json({ ...card, supportedInterfaces: card.supportedInterfaces.filter(only) });
	});
	const { url } = listening;
	const server = a2aServer({ service, name: "The Researcher", description: "Researches facts.", url });
	ends.push(
		() => host.close(),
		() => service.close(),
		() => listening.close(),
	);
	const research = await remoteAgent({ url });
	expect(await research.run({ prompt: "How large is Bern?" }, context())).toBe("147,000.");
	const leaving = new AbortController();
	const asked = research.run(
		{ prompt: "And Basel?" },
		context({ signal: leaving.signal, idempotencyKey: "run.1.1" }),
	);
	const refused = expect(asked).rejects.toThrow();
	await expect.poll(() => model.requests.length).toBe(2);
	leaving.abort(new Error("enough"));
	await refused;
	expect(paths).toEqual([":stream", ":stream", ":cancel"]);
});
