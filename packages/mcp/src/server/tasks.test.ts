// Long runs as tasks: in the shapes of both wires, answered and cancelled, and found again by another process.
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type SessionService, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import fc from "fast-check";
import { memoryHost, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, describe, expect, test } from "vitest";
import { mcpServer } from "../server.ts";
import { readTaskId, taskIdOf } from "./task-id.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

type Wire = "2025" | "2026";
type Data = Record<string, unknown> & { readonly taskId: string; readonly status: string };

/** Speaks JSON-RPC as a client of one wire does. */
function speaker(service: SessionService, wire: Wire, capabilities: object = {}) {
	const tools = { research: { description: "Researches facts." } };
	const server = mcpServer({ service, tools });
	ends.push(() => server.close());
	let id = 0;
	const ask = async (method: string, params: Record<string, unknown> = {}): Promise<Data> => {
		const _meta = {
			"io.modelcontextprotocol/protocolVersion": "2026-07-28",
			"io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
			"io.modelcontextprotocol/clientCapabilities": {
				extensions: { "io.modelcontextprotocol/tasks": {} },
				...capabilities,
			},
		};
		const name = params.name ?? params.taskId;
		const headers = {
			host: "localhost",
			"content-type": "application/json",
			accept: "application/json, text/event-stream",
			...(wire === "2025"
				? { "mcp-protocol-version": "2025-11-25" }
				: {
						"mcp-protocol-version": "2026-07-28",
						"mcp-method": method,
						...(name === undefined ? {} : { "mcp-name": String(name) }),
					}),
		};
		const body = {
			jsonrpc: "2.0",
			id: ++id,
			method,
			params: wire === "2025" ? params : { ...params, _meta },
		};
		const request = { method: "POST", headers, body: JSON.stringify(body) };
		const text = await (await server.fetch(new Request("http://localhost/mcp", request))).text();
		const last = text.startsWith("{")
			? text
			: (text
					.match(/^data: (\{.*)$/gm)
					?.at(-1)
					?.slice(6) ?? "{}");
		const { result, error } = JSON.parse(last);
		if (error !== undefined) throw Object.assign(new Error(error.message), { rpc: error });
		return result;
	};
	const begin = async (prompt = "?"): Promise<Data> => {
		const task = wire === "2025" ? { task: { ttl: 60_000 } } : {};
		const result = await ask("tools/call", { name: "research", arguments: { prompt }, ...task });
		if (wire === "2025") return result.task as Data;
		expect(result.resultType).toBe("task");
		return result;
	};
	const until = async (taskId: string, status: string): Promise<Data> => {
		await expect.poll(async () => (await ask("tasks/get", { taskId })).status).toBe(status);
		return ask("tasks/get", { taskId });
	};
	/** What a task came to. */
	const outcome = async (taskId: string): Promise<unknown> => {
		if (wire === "2025") return ask("tasks/result", { taskId });
		return (await until(taskId, "completed")).result;
	};
	return { ask, begin, until, outcome };
}

function serviceWith(model: ReturnType<typeof scriptedModel>, tools: readonly object[] = []): SessionService {
	const host = memoryHost();
	const service = sessionService({ host, agent: { model, tools } });
	ends.push(
		() => host.close(),
		() => service.close(),
	);
	return service;
}

describe.each(["2025", "2026"] as const)("with protocol %s", (wire) => {
	test("a call becomes a task at once, and its result is available when it ends", async () => {
		let answer: (text: string) => void = () => {};
		const model = scriptedModel(() => new Promise<string>((resolve) => (answer = resolve)));
		const { ask, begin, until, outcome } = speaker(serviceWith(model), wire);
		const task = await begin();
		expect(task).toMatchObject({
			status: "working",
			taskId: expect.any(String),
			createdAt: expect.any(String),
		});
		expect(await ask("tasks/get", { taskId: task.taskId })).toMatchObject({ status: "working" });
		await expect.poll(() => model.requests.length).toBe(1);
		answer("Bern.");
		await until(task.taskId, "completed");
		expect(await outcome(task.taskId)).toMatchObject({ content: [{ type: "text", text: "Bern." }] });
		if (wire === "2025") expect(await ask("tasks/list")).toMatchObject({ tasks: [{ status: "completed" }] });
	});

	test("a failed run is a failed task, and reports no more than the server would", async () => {
		const { begin, until } = speaker(serviceWith(scriptedModel([{ error: new Error("secret") }])), wire);
		const { taskId } = await begin();
		const failed = await until(taskId, "failed");
		expect(JSON.stringify(failed)).not.toContain("secret");
		if (wire === "2026") expect(failed.error).toMatchObject({ message: expect.any(String) });
		else expect(failed.statusMessage).toEqual(expect.any(String));
	});

	test("cancelling ends its run, once", async () => {
		const model = scriptedModel(() => new Promise<string>(() => {}));
		const { ask, begin, until } = speaker(serviceWith(model), wire);
		const { taskId } = await begin();
		await expect.poll(() => model.requests.length).toBe(1);
		await ask("tasks/cancel", { taskId });
		expect(await until(taskId, "cancelled")).toMatchObject({ taskId });
		await expect(ask("tasks/cancel", { taskId })).rejects.toMatchObject({ rpc: { code: -32602 } });
	});

	test("an unknown task is reported as unknown", async () => {
		const { ask } = speaker(serviceWith(scriptedModel([])), wire);
		const gone = taskIdOf({ sessionId: "mcp.research.gone", after: "1.0.0", createdAt: 1 });
		const other = taskIdOf({ sessionId: "private", after: "1.0.0", createdAt: 1 });
		for (const taskId of [gone, other, "", "%%%", 7])
			for (const method of ["tasks/get", "tasks/cancel", ...(wire === "2025" ? ["tasks/result"] : [])])
				await expect(ask(method, { taskId }), `${method} ${taskId}`).rejects.toMatchObject({
					rpc: { code: -32602 },
				});
	});

	test("a task survives the service that started it", async () => {
		const folder = await mkdtemp(join(tmpdir(), "holdfast-mcp-"));
		ends.push(() => rm(folder, { recursive: true, force: true }));
		const file = join(folder, "sessions.db");
		const first = sqliteHost(file);
		const hanging = scriptedModel(() => new Promise<string>(() => {}));
		const one = sessionService({ host: first, agent: { model: hanging } });
		const { taskId } = await speaker(one, wire).begin();
		await expect.poll(() => hanging.requests.length).toBe(1);
		await one.close();
		await first.close();

		const second = sqliteHost(file);
		const answering = scriptedModel(["Still here."]);
		const two = sessionService({ host: second, agent: { model: answering }, recoverEveryMs: 20 });
		ends.push(
			() => second.close(),
			() => two.close(),
		);
		const { ask, until, outcome } = speaker(two, wire);
		expect(await ask("tasks/get", { taskId })).toMatchObject({ status: "working" });
		await two.supervise();
		await until(taskId, "completed");
		expect(await outcome(taskId)).toMatchObject({ content: [{ text: "Still here." }] });
		expect(answering.requests).toHaveLength(1);
	});
});

test("a waiting task lists what it waits for, and continues with the answers", async () => {
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
	const calls = [
		{ name: "remove", id: "1" },
		{ name: "ask", id: "2" },
		{ name: "ask", id: "3" },
	];
	const model = scriptedModel([{ toolCalls: calls }, "Done."]);
	const task = speaker(serviceWith(model, [remove, ask]), "2026");
	const { taskId } = await task.begin();
	const waiting = await task.until(taskId, "input_required");
	expect(waiting).toMatchObject({
		statusMessage: "It waits for remove, ask, ask.",
		inputRequests: {
			1: { method: "elicitation/create", params: { requestedSchema: { required: ["approved"] } } },
			2: { method: "elicitation/create", params: { requestedSchema: { required: ["output"] } } },
		},
	});
	await task.ask("tasks/update", {
		taskId,
		inputResponses: { 1: { action: "accept", content: { approved: true } } },
	});
	await task.until(taskId, "input_required");
	await task.ask("tasks/update", {
		taskId,
		inputResponses: {
			2: { action: "accept", content: { output: "blue" } },
			3: { action: "decline" },
			toString: { action: "accept" },
			unknown: { action: "accept" },
		},
	});
	expect(await task.outcome(taskId)).toMatchObject({ content: [{ text: "Done." }] });
	expect(ran).toEqual(["remove"]);
	const results = model.requests[1]?.messages.at(-1);
	expect(results).toMatchObject({
		results: [{ result: "removed" }, { result: "blue" }, { result: "No result was given.", isError: true }],
	});
});

test("a program that was killed finds its tasks again, over standard input and output", async () => {
	const folder = await mkdtemp(join(tmpdir(), "holdfast-mcp-"));
	ends.push(() => rm(folder, { recursive: true, force: true }));
	const file = join(folder, "sessions.db");
	const start = async () => {
		const program = join(import.meta.dirname, "mcp-process.fixture.ts");
		const args = ["--conditions=holdfast-source", "--no-warnings", program, file];
		const transport = new StdioClientTransport({ command: process.execPath, args, stderr: "inherit" });
		const client = new Client({ name: "test", version: "1" });
		await client.connect(transport);
		ends.push(() => client.close());
		return { client, pid: transport.pid as number };
	};
	const anything = {
		"~standard": { version: 1 as const, vendor: "test", validate: (value: unknown) => ({ value }) },
	};
	const ask = async (client: Client, method: string, params: object): Promise<Data> =>
		(await client.request({ method, params: params as Record<string, unknown> }, anything as never)) as Data;

	const first = await start();
	const call = { name: "research", arguments: { prompt: "?" }, task: {} };
	const { task } = (await ask(first.client, "tools/call", call)) as unknown as { task: Data };
	await expect.poll(() => existsSync(`${file}.begun`)).toBe(true);
	process.kill(first.pid, "SIGKILL");

	const { client } = await start();
	const { taskId } = task;
	await expect.poll(async () => (await ask(client, "tasks/get", { taskId })).status).toBe("completed");
	expect(await ask(client, "tasks/result", { taskId })).toMatchObject({
		content: [{ type: "text", text: "Done after all." }],
		_meta: { "io.modelcontextprotocol/related-task": { taskId } },
	});
});

test("a task's id locates its run, and no other id is accepted as one", () => {
	const place = fc.record({
		sessionId: fc.stringMatching(/^mcp\.[a-z]{1,10}\.[\w-]{1,32}$/),
		after: fc.string({ maxLength: 30 }),
		createdAt: fc.nat(),
	});
	fc.assert(
		fc.property(place, (each) => {
			expect(readTaskId(taskIdOf(each))).toEqual(each);
		}),
	);
	fc.assert(
		fc.property(fc.oneof(fc.string(), fc.jsonValue(), fc.anything()), (each) => {
			const text = typeof each === "string" ? each : JSON.stringify(each);
			expect(readTaskId(text)).toBeUndefined();
			expect(readTaskId(Buffer.from(text ?? "").toString("base64url"))).toBeUndefined();
		}),
	);
});
