// An agent over A2A, asked by the official client over HTTP on loopback.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Message, Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
	type Client,
	ClientFactory,
	JsonRpcTransportFactory,
	RestTransportFactory,
} from "@a2a-js/sdk/client";
import { type SessionService, type SessionServiceOptions, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { memoryHost, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { askingProvider } from "../../../../test/shared/asking-provider.fixture.ts";
import { listen } from "../../../../test/shared/listen.fixture.ts";
import { type A2AServerOptions, a2aServer, contextOfSession } from "../index.ts";
import { dataPart, textPart } from "../parts.ts";
import { readTaskId, sessionIdOf, taskIdOf } from "./task-id.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

const bindings = ["JSONRPC", "HTTP+JSON"] as const;
/** What clients speak. */
let binding: (typeof bindings)[number];
beforeEach(() => {
	binding = "JSONRPC";
});

interface Served {
	readonly client: Client;
	readonly url: string;
	readonly service: SessionService;
}

async function serve(
	agent: SessionServiceOptions["agent"],
	options: Partial<A2AServerOptions> = {},
	given?: SessionService,
): Promise<Served> {
	const host = memoryHost();
	const service = given ?? sessionService({ host, agent });
	let server: ReturnType<typeof a2aServer> | undefined;
	const listening = await listen((request) => server?.fetch(request) ?? new Response());
	const { url } = listening;
	server = a2aServer({ service, name: "Bern", description: "Knows Bern.", url: `${url}/a2a`, ...options });
	ends.push(
		() => host.close(),
		() => service.close(),
		() => listening.close(),
	);
	const transport = binding === "JSONRPC" ? new JsonRpcTransportFactory() : new RestTransportFactory();
	const client = await new ClientFactory({ transports: [transport] }).createFromUrl(`${url}/`);
	return { client, url, service };
}

let count = 0;
function say(text: string, over: Partial<Message> = {}): Message {
	return {
		messageId: `message-${++count}`,
		contextId: "",
		taskId: "",
		role: Role.ROLE_USER,
		parts: [textPart(text)],
		metadata: undefined,
		extensions: [],
		referenceTaskIds: [],
		...over,
	};
}

function request(message: Message, over: { returnImmediately?: boolean; historyLength?: number } = {}) {
	const { returnImmediately = false, ...rest } = over;
	return {
		tenant: "",
		message,
		metadata: undefined,
		configuration: {
			acceptedOutputModes: [],
			taskPushNotificationConfig: undefined,
			returnImmediately,
			...rest,
		},
	};
}

const send = async (client: Client, message: Message, over = {}) =>
	(await client.sendMessage(request(message, over))) as Task;
const get = (client: Client, { id }: { id: string }, historyLength?: number) =>
	client.getTask({ tenant: "", id, ...(historyLength === undefined ? {} : { historyLength }) });
const list = (
	client: Client,
	over: { contextId?: string; pageSize?: number; pageToken?: string; status?: TaskState } = {},
) =>
	client.listTasks({
		tenant: "",
		contextId: "",
		status: TaskState.TASK_STATE_UNSPECIFIED,
		pageToken: "",
		statusTimestampAfter: undefined,
		includeArtifacts: true,
		...over,
	});
const textsOf = ({ artifacts }: Task) =>
	artifacts.flatMap(({ parts }) =>
		parts.map(({ content }) => (content?.$case === "text" ? content.value : content)),
	);

test("the card describes the agent and its address", async () => {
	const skills = [{ id: "size", name: "Size", description: "How large it is.", tags: ["geography"] }];
	const { client, url } = await serve({ model: scriptedModel([]) }, { skills, version: "2.0.0" });
	const card = await client.getAgentCard();
	expect(card).toMatchObject({
		name: "Bern",
		description: "Knows Bern.",
		version: "2.0.0",
		capabilities: { streaming: true, pushNotifications: false },
		supportedInterfaces: bindings.map((protocolBinding) => ({
			url: `${url}/a2a`,
			protocolBinding,
			protocolVersion: "1.0",
		})),
		skills: [{ id: "size", tags: ["geography"] }],
	});
});

describe.each(bindings)("by %s", (spoken) => {
	beforeEach(() => {
		binding = spoken;
	});

	test("a message becomes a task, which ends with its answer", async () => {
		const output = { type: "object", properties: { people: { type: "integer" } }, required: ["people"] };
		const { client } = await serve({ model: scriptedModel(['{"people":147000}']), output } as never);
		const task = await send(client, say("How large is Bern?"));
		expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
		expect(textsOf(task)).toEqual(['{"people":147000}', { $case: "data", value: { people: 147000 } }]);
		expect(task.history.map(({ role, parts }) => [role, parts[0]?.content])).toEqual([
			[Role.ROLE_USER, { $case: "text", value: "How large is Bern?" }],
			[Role.ROLE_AGENT, { $case: "text", value: '{"people":147000}' }],
		]);
		expect(await get(client, task)).toEqual(task);
		expect((await get(client, task, 1)).history).toEqual(task.history.slice(1));
		expect((await get(client, task, 0)).history).toEqual([]);
	});

	test("input and output files keep their types and bytes", async () => {
		const prompts: unknown[] = [];
		const png = Buffer.from([137, 80, 78, 71]);
		const answer = [
			{ type: "text-delta", id: "1", delta: "Here." },
			{ type: "file", mediaType: "audio/wav", data: png.toString("base64") },
			{ type: "finish", usage: {}, finishReason: { unified: "stop", raw: "stop" } },
		];
		const model = {
			specificationVersion: "v3",
			provider: "p",
			modelId: "m",
			supportedUrls: {},
			doGenerate: async () => Promise.reject(new Error("it is streamed")),
			doStream: async ({ prompt }: { readonly prompt: readonly { readonly content: unknown }[] }) => {
				prompts.push(prompt.at(-1)?.content);
				const stream = new ReadableStream({
					start(controller) {
						for (const part of answer) controller.enqueue(part);
						controller.close();
					},
				});
				return { stream };
			},
		} as never;
		const { client } = await serve({ model });
		const file = {
			content: { $case: "raw", value: png },
			metadata: undefined,
			filename: "",
			mediaType: "image/png",
		};
		const task = await send(client, say("", { parts: [textPart("What is it?"), file as never] }));
		expect(prompts).toMatchObject([
			[{ text: "What is it?" }, { type: "file", mediaType: "image/png", data: png.toString("base64") }],
		]);
		const [said, made] = task.artifacts[0]?.parts ?? [];
		expect(said?.content).toEqual({ $case: "text", value: "Here." });
		expect(made).toMatchObject({ mediaType: "audio/wav", content: { $case: "raw" } });
		expect(made?.content?.value).toEqual(png);
		expect(await get(client, task)).toEqual(task);
	});

	test("the same message is one task, however often it is sent", async () => {
		const model = scriptedModel(["Once."]);
		const { client } = await serve({ model });
		const message = say("?", { messageId: "m" });
		const [one, two] = await Promise.all([send(client, message), send(client, message)]);
		expect(two).toEqual(one);
		expect(await send(client, message)).toEqual(one);
		expect(model.requests).toHaveLength(1);
		await expect(send(client, say("Another", { messageId: "m" }))).rejects.toThrow(/key/);
	});

	test("messages of one context are tasks of one conversation", async () => {
		const model = scriptedModel(["147,000.", "On the Aare."]);
		const { client, service } = await serve({ model });
		const first = await send(client, say("How large is Bern?", { contextId: "bern" }));
		const second = await send(client, say("Where is it?", { contextId: first.contextId }));
		expect(first.contextId).toBe("bern");
		expect(second.id).not.toBe(first.id);
		expect(model.requests[1]?.messages.map(({ text }) => text)).toEqual([
			"How large is Bern?",
			"147,000.",
			"Where is it?",
		]);
		expect(textsOf(await get(client, first))).toEqual(["147,000."]);
		expect(textsOf(await get(client, second))).toEqual(["On the Aare."]);
		const { sessions } = await service.list("local");
		expect(sessions.map(({ sessionId }) => contextOfSession(sessionId))).toEqual(["bern"]);
		const { tasks, totalSize } = await list(client, { contextId: "bern" });
		expect(tasks.map(({ id }) => id)).toEqual([second.id, first.id]);
		expect(totalSize).toBe(2);
	});

	test("a stream shows the task, its answer as it grows, and its end", async () => {
		let answer: (reply: object) => void = () => {};
		const model = scriptedModel(() => new Promise<never>((resolve) => (answer = resolve as typeof answer)));
		const { client } = await serve({ model });
		const stream = client.sendMessageStream(request(say("Where?")));
		const first = await stream.next();
		expect(first.value?.payload).toMatchObject({ $case: "task", value: { id: expect.any(String) } });
		await expect.poll(() => model.requests.length).toBe(1);
		answer({ text: "It lies on the Aare.", deltas: 4 });
		const seen: StreamResponse["payload"][] = [];
		for await (const { payload } of stream) seen.push(payload);
		expect(seen.at(-1)).toMatchObject({
			$case: "statusUpdate",
			value: { status: { state: TaskState.TASK_STATE_COMPLETED } },
		});
		const whole = seen.find((payload) => payload?.$case === "artifactUpdate" && payload.value.lastChunk);
		expect(whole).toMatchObject({
			value: { append: false, artifact: { parts: [{ content: { value: "It lies on the Aare." } }] } },
		});
		let text = "";
		for (const payload of seen) {
			if (payload?.$case !== "artifactUpdate") continue;
			const piece = payload.value.artifact?.parts[0]?.content;
			text = (payload.value.append ? text : "") + (piece?.$case === "text" ? piece.value : "");
		}
		expect(text).toBe("It lies on the Aare.");
	});

	test("a detached task can be read, subscribed to and read from the middle", async () => {
		let answer: (text: string) => void = () => {};
		const model = scriptedModel(() => new Promise<string>((resolve) => (answer = resolve)));
		const { client } = await serve({ model });
		const task = await send(client, say("?"), { returnImmediately: true });
		expect(task.status?.state).toBe(TaskState.TASK_STATE_WORKING);
		expect((await get(client, task)).status?.state).toBe(TaskState.TASK_STATE_WORKING);
		const stream = client.resubscribeTask({ tenant: "", id: task.id });
		expect((await stream.next()).value?.payload).toMatchObject({ $case: "task", value: { id: task.id } });
		await expect.poll(() => model.requests.length).toBe(1);
		answer("Here.");
		const seen: unknown[] = [];
		for await (const { payload } of stream) seen.push(payload?.$case);
		expect(seen.at(-1)).toBe("statusUpdate");
		expect(textsOf(await get(client, task))).toEqual(["Here."]);
		const again = client.resubscribeTask({ tenant: "", id: task.id });
		await expect(again.next()).rejects.toThrow(/already completed/);
	});

	test("cancelling ends the task, once", async () => {
		const model = scriptedModel(() => new Promise<string>(() => {}));
		const { client } = await serve({ model });
		const task = await send(client, say("?"), { returnImmediately: true });
		await expect.poll(() => model.requests.length).toBe(1);
		const cancelled = await client.cancelTask({ tenant: "", id: task.id, metadata: undefined });
		expect(cancelled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
		await expect(client.cancelTask({ tenant: "", id: task.id, metadata: undefined })).rejects.toThrow(
			/already cancelled/,
		);
		await expect(send(client, say("Go on.", { taskId: task.id }))).rejects.toThrow(/cancelled/);
	});

	describe("a waiting task", () => {
		const ran: string[] = [];
		const remove = tool({
			name: "remove",
			description: "Removes.",
			needsApproval: true,
			run: () => {
				ran.push("remove");
				return "removed";
			},
		});
		const ask = { name: "ask", description: "Asks.", parameters: { type: "object" } };

		test("lists what it waits for, and continues with the answers", async () => {
			ran.length = 0;
			const calls = [
				{ name: "remove", id: "1" },
				{ name: "ask", id: "2" },
			];
			const model = scriptedModel([{ toolCalls: calls }, "Done."]);
			const { client } = await serve({ model, tools: [remove, ask] });
			const task = await send(client, say("?"));
			expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
			expect(task.status?.message?.parts[1]?.content).toMatchObject({
				value: {
					pendingCalls: [
						{ toolCallId: "1", name: "remove", awaits: "approval" },
						{ toolCallId: "2", name: "ask", awaits: "result" },
					],
				},
			});
			const { id: taskId } = task;
			await expect(send(client, say("yes", { taskId }))).rejects.toThrow(/toolCallId/);
			const wrong = [dataPart({ toolCallId: "1", approved: "yes" })];
			await expect(send(client, say("", { taskId, parts: wrong }))).rejects.toThrow(/approved/);
			await expect(send(client, say("x", { taskId, contextId: "other" }))).rejects.toThrow(/another context/);
			for (const [part, why] of [
				[{ toolCallId: "1", approved: true, inputs: {} }, /"inputs"/],
				[{ toolCallId: "1", approved: true, output: "x" }, /"output"/],
				[{ toolCallId: "1", approved: true, reason: 1 }, /reason/],
				[{ toolCallId: "2", output: "x", input: {} }, /"input"/],
				[{ toolCallId: "2", output: "x", isError: "yes" }, /isError/],
			] as const)
				await expect(send(client, say("", { taskId, parts: [dataPart(part)] }))).rejects.toThrow(why);
			const mixed = [dataPart({ toolCallId: "1", approved: true }), textPart("and this")];
			await expect(send(client, say("", { taskId, parts: mixed }))).rejects.toThrow(/contains an object/);
			const parts = [
				dataPart({ toolCallId: "1", approved: true }),
				dataPart({ toolCallId: "2", output: "blue" }),
			];
			const over = await send(client, say("", { taskId, parts }));
			expect(over.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
			expect(over.id).toBe(taskId);
			expect(ran).toEqual(["remove"]);
			expect(model.requests[1]?.messages.at(-1)).toMatchObject({
				results: [{ result: "removed" }, { result: "blue" }],
			});
		});

		test("for a tool that its provider runs lists it, and the provider gets the answer", async () => {
			const { model, prompts } = askingProvider();
			const { client } = await serve({ model });
			const task = await send(client, say("Erase a."));
			expect(task.status?.message?.parts[1]?.content).toMatchObject({
				value: {
					pendingCalls: [{ toolCallId: "m1", name: "mcp.erase", awaits: "approval" }],
				},
			});
			const parts = [dataPart({ toolCallId: "m1", approved: true })];
			expect(textsOf(await send(client, say("", { taskId: task.id, parts })))).toEqual(["Done."]);
			expect(prompts[1]?.at(-1)).toMatchObject({
				content: [{ type: "tool-approval-response", approvalId: "q1", approved: true }],
			});
		});

		test("for only one result accepts text as the result", async () => {
			const model = scriptedModel([{ toolCalls: [{ name: "ask" }] }, "Blue it is."]);
			const { client } = await serve({ model, tools: [ask] });
			const { id: taskId } = await send(client, say("?"));
			expect(textsOf(await send(client, say("blue", { taskId })))).toEqual(["Blue it is."]);
			expect(model.requests[1]?.messages.at(-1)).toMatchObject({ results: [{ result: "blue" }] });
		});
	});

	test("a failed run is a failed task, and reports only what clients may read", async () => {
		const { client } = await serve({ model: scriptedModel([{ error: new Error("secret") }]) });
		const task = await send(client, say("?"));
		expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
		expect(task.status?.message?.parts[0]?.content).toMatchObject({
			$case: "text",
			value: expect.any(String),
		});
		expect(JSON.stringify(task)).not.toContain("secret");
	});

	test("a store failure is reported without its text", async () => {
		const service = sessionService({ host: memoryHost(), agent: { model: scriptedModel([]) } });
		const broken: SessionService = {
			...service,
			close: () => service.close(),
			submit: () => Promise.reject(new Error("/secret/path")),
		};
		const { client } = await serve({ model: scriptedModel([]) }, {}, broken);
		const error = await send(client, say("?")).catch((each: Error) => each);
		expect(error).toBeInstanceOf(Error);
		expect(String(error)).not.toContain("secret");
	});

	test("lists go page by page, by state", async () => {
		const model = scriptedModel(["1", "2", "3", { error: new Error("no") }]);
		const { client } = await serve({ model });
		for (const contextId of ["a", "b", "c", "d"]) await send(client, say("?", { contextId }));
		const first = await list(client, { pageSize: 3 });
		expect(first.tasks.map(({ contextId }) => contextId)).toEqual(["a", "b", "c"]);
		const second = await list(client, { pageSize: 3, pageToken: first.nextPageToken });
		expect(second.tasks.map(({ contextId }) => contextId)).toEqual(["d"]);
		expect(second.nextPageToken).toBe("");
		const failed = await list(client, { status: TaskState.TASK_STATE_FAILED });
		expect(failed.tasks.map(({ contextId }) => contextId)).toEqual(["d"]);
		expect((await list(client, { contextId: "nothing" })).tasks).toEqual([]);
		expect((await list(client, { contextId: "no context" })).tasks).toEqual([]);
		const page = await list(client, { contextId: "a", pageToken: "x" }).catch((error: Error) => error);
		expect(String(page)).toContain("pageToken");
	});
});

test("invalid messages, tasks and operations are rejected", async () => {
	const { client, url } = await serve({ model: scriptedModel(["Hello."]) });
	const gone = taskIdOf({ contextId: "gone", start: "1.0.0" });
	for (const id of [gone, "", "%%%"]) {
		await expect(get(client, { id }), id).rejects.toThrow(/task does not exist/);
		await expect(client.cancelTask({ tenant: "", id, metadata: undefined })).rejects.toThrow(
			/task does not exist/,
		);
	}
	await expect(send(client, say("?", { messageId: "" }))).rejects.toThrow(/messageId/);
	await expect(send(client, say("?", { role: Role.ROLE_AGENT }))).rejects.toThrow(/role/);
	await expect(send(client, say("?", { parts: [] }))).rejects.toThrow(/parts/);
	await expect(send(client, say("?", { contextId: "no context" }))).rejects.toThrow(/contextId/);
	await expect(send(client, say(""))).rejects.toThrow(/empty text/);
	const file = {
		content: { $case: "url" as const, value: "https://example.com/a.pdf" },
		metadata: undefined,
	};
	const parts = [{ ...file, filename: "", mediaType: "application/pdf" }];
	await expect(send(client, say("?", { parts }))).rejects.toThrow(/must be an image/);
	const post = (body: string, headers: Record<string, string> = { "a2a-version": "1.0" }) =>
		fetch(`${url}/a2a`, { method: "POST", headers, body });
	expect(await (await post("{")).json()).toMatchObject({ error: { code: expect.any(Number) } });
	expect(await (await post('{"jsonrpc":"2.0","id":1,"method":"Nothing","params":{}}')).json()).toMatchObject({
		error: { code: -32601 },
	});
	for (const method of ["CreateTaskPushNotificationConfig", "GetExtendedAgentCard"]) {
		const answer = await post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: {} }));
		expect(await answer.json()).toMatchObject({ error: { code: expect.any(Number) } });
	}
	expect(await (await post("{}", {})).json()).toMatchObject({
		error: { message: expect.stringMatching(/version/) },
	});
	expect((await fetch(`${url}/a2a`)).status).toBe(405);
});

test("over HTTP+JSON a rejection has the status and the shape that its clients expect", async () => {
	const { client, url } = await serve({ model: scriptedModel(["Hello."]) });
	const version = { "a2a-version": "1.0" };
	const ask = async (path: string, init: RequestInit = {}) => {
		const answer = await fetch(`${url}/a2a${path}`, { headers: version, ...init });
		return [answer.status, ((await answer.json()) as { error?: { message: string } }).error?.message];
	};
	const post = (body: string, headers: Record<string, string> = version): RequestInit => ({
		method: "POST",
		headers: { "content-type": "application/json", ...headers },
		body,
	});
	const gone = taskIdOf({ contextId: "gone", start: "1.0.0" });
	for (const id of [gone, "no-task", "%25", "%E0%A4%A"]) {
		expect(await ask(`/tasks/${id}`), id).toEqual([404, expect.stringContaining("task does not exist")]);
		expect(await ask(`/tasks/${id}:subscribe`, post("")), id).toEqual([404, expect.any(String)]);
	}
	expect(await ask("/message:send", post("{"))).toEqual([400, expect.stringContaining("JSON")]);
	expect(await ask("/message:send", post("[1]"))).toEqual([400, expect.stringContaining("messageId")]);
	expect(await ask("/message:stream", post("null"))).toEqual([400, expect.any(String)]);
	expect(await ask("/message:send", post("{}", { ...version, "content-type": "text/plain" }))).toEqual([
		400,
		expect.stringContaining("text/plain"),
	]);
	for (const query of ["pageSize=0", "pageSize=x", "historyLength=-1", "statusTimestampAfter=soon"])
		expect(await ask(`/tasks?${query}`), query).toEqual([400, expect.any(String)]);
	expect(await ask("/tasks", { headers: {} })).toEqual([400, expect.stringMatching(/version/)]);
	expect((await ask("/extendedAgentCard"))[0]).toBe(400);
	expect((await ask(`/tasks/${gone}/pushNotificationConfigs`))[0]).toBe(400);
	expect((await fetch(`${url}/a2a/tasks`, { method: "DELETE", headers: version })).status).toBe(405);
	const { id } = await send(client, say("?", { contextId: "short" }));
	const listed = async (query: string) =>
		(await (await fetch(`${url}/a2a/tasks?${query}`, { headers: version })).json()) as { tasks: Task[] };
	expect((await listed("includeArtifacts=true")).tasks).toMatchObject([{ id, artifacts: [{}] }]);
	expect((await listed("")).tasks[0]?.artifacts ?? []).toEqual([]);
});

test("callers see only their own tasks, and anonymous callers are rejected everywhere", async () => {
	const authenticate = (each: Request) => {
		const user = each.headers.get("x-user");
		return user === null ? undefined : { tenant: "t", user };
	};
	const { client, url } = await serve({ model: scriptedModel(["Hello."]) }, { authenticate });
	await expect(send(client, say("?"))).rejects.toThrow();
	const as = (user: string) => ({ serviceParameters: { "x-user": user } });
	const task = (await client.sendMessage(request(say("?")), as("ada"))) as Task;
	expect((await client.getTask({ tenant: "", id: task.id }, as("ada"))).id).toBe(task.id);
	await expect(client.getTask({ tenant: "", id: task.id }, as("bob"))).rejects.toThrow(/task does not exist/);
	expect((await fetch(`${url}/a2a`, { method: "POST", body: "{}" })).status).toBe(401);
});

test("without authentication only local callers are accepted, and endless bodies are not read", async () => {
	const service = sessionService({ host: memoryHost(), agent: { model: scriptedModel([]) } });
	ends.push(() => service.close());
	const url = "http://localhost/a2a";
	const server = a2aServer({ service, name: "a", description: "b", url, maxRequestBytes: 100 });
	const to = async (headers: Record<string, string>, body = "{}") =>
		(await server.fetch(new Request(url, { method: "POST", headers, body }))).status;
	expect(await to({ host: "evil.example" })).toBe(403);
	expect(await to({ host: "localhost:80", origin: "https://evil.example" })).toBe(403);
	expect(await to({ host: "localhost:80", origin: "http://127.0.0.1:3000" })).toBe(200);
	expect(await to({ host: "localhost" }, "x".repeat(101))).toBe(413);
});

test.each([
	["name", { name: "" }],
	["description", { description: "" }],
	["url", { url: "localhost" }],
])("a card without a %s is rejected", (field, wrong) => {
	const service = {} as SessionService;
	const whole = { service, name: "a", description: "b", url: "http://localhost" };
	expect(() => a2aServer({ ...whole, ...wrong })).toThrow(
		expect.objectContaining({ code: "invalid_a2a_card", message: expect.stringContaining(field) }),
	);
});

test("a task survives the process that started it", async () => {
	const folder = await mkdtemp(join(tmpdir(), "holdfast-a2a-"));
	ends.push(() => rm(folder, { recursive: true, force: true }));
	const file = join(folder, "sessions.db");
	const first = sqliteHost(file);
	const hanging = scriptedModel(() => new Promise<string>(() => {}));
	const one = sessionService({ host: first, agent: { model: hanging } });
	const before = await serve({ model: hanging }, {}, one);
	const task = await send(before.client, say("?"), { returnImmediately: true });
	await expect.poll(() => hanging.requests.length).toBe(1);
	await one.close();
	await first.close();

	const second = sqliteHost(file);
	ends.push(() => second.close());
	const two = sessionService({
		host: second,
		agent: { model: scriptedModel(["Still here."]) },
		recoverEveryMs: 20,
	});
	const { client } = await serve({ model: hanging }, {}, two);
	expect((await get(client, task)).status?.state).toBe(TaskState.TASK_STATE_WORKING);
	await two.supervise();
	await expect.poll(async () => textsOf(await get(client, task))).toEqual(["Still here."]);
});

test("a task's id locates its run, and no other id is accepted as one", () => {
	const place = fc.record({
		contextId: fc.stringMatching(/^[\w-]{1,64}$/),
		start: fc.string({ minLength: 1, maxLength: 30 }),
	});
	fc.assert(
		fc.property(place, (each) => {
			expect(readTaskId(taskIdOf(each))).toEqual(each);
			expect(contextOfSession(sessionIdOf(each.contextId))).toBe(each.contextId);
		}),
	);
	fc.assert(
		fc.property(fc.oneof(fc.string(), fc.json()), (each) => {
			// Two texts in a list are what an id is made of.
			fc.pre(!/^\s*\[\s*"/.test(each));
			expect(readTaskId(each)).toBeUndefined();
			expect(readTaskId(Buffer.from(each).toString("base64url"))).toBeUndefined();
		}),
	);
});
