import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { Host } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { sqliteHost } from "../sqlite.ts";
import type { AnyTool } from "../tools/types.ts";
import { createSession, execute } from "./create-session.ts";
import {
	all,
	asks,
	faultsOf,
	locate,
	messagesIn,
	only,
	played,
	refusal,
	says,
	toolResult,
} from "./execute.fixture.ts";
import type { SessionMessage } from "./session-message.ts";

const prices = { scripted: { input: 1, output: 1 }, other: { input: 1, output: 1 } };
const look: AnyTool = {
	name: "look",
	description: "Looks.",
	parameters: { type: "object" },
	execute: async () => ({ output: "seen" }),
};

test("a new session is idle and costs nothing; its arguments are not changed [API-036]", async () => {
	const given: SessionMessage[] = [{ role: "user", content: [{ type: "text", text: "Before" }] }];
	const kept = structuredClone(given);
	const session = createSession("trip", { messages: given }, { model: scriptedModel(["Hello.", "Again."]) });
	expect(session).toMatchObject({ id: "trip", status: "idle", totalCost: 0, messages: kept });
	expect(session.pendingToolCalls).toBeUndefined();
	expect(session.messages).not.toBe(given);
	await execute(session, says("Hi")).result();
	expect(given).toEqual(kept);
	expect(session.messages).toHaveLength(3);
	given.push(says("later"));
	(given[0] as { content: string }).content = "changed";
	await execute(session, says("Again")).result();
	expect(session.messages[0]).toEqual(kept[0]);
	expect(session.messages).toHaveLength(5);
});

test("messages pushed to a given history before the first execution are not part of the session [API-036]", async () => {
	const given: SessionMessage[] = [says("Before")];
	const model = scriptedModel(["Hello."]);
	const session = createSession("s", { messages: given }, { model });
	given.push(says("not meant"));
	await execute(session, says("Hi")).result();
	expect(model.requests[0]?.messages).toHaveLength(2);
});

test("an invalid id is rejected", () => {
	for (const id of ["", 7 as never]) expect(() => createSession(id, {})).toThrow(TypeError);
});

test("a missing context is rejected", () => {
	expect(() => createSession("s", undefined as never)).toThrow(
		expect.objectContaining({ code: "invalid_argument" }),
	);
});

test("an invalid buffer limit is rejected", () => {
	for (const bufferLimit of [0, 1.5, -1, "9" as never])
		expect(() => createSession("s", {}, { bufferLimit })).toThrow("bufferLimit");
});

describe("a stored session", () => {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
	let files = 0;
	const open: Host[] = [];
	afterEach(async () => {
		for (const host of open.splice(0)) await host.close?.();
		rmSync(folder, { recursive: true, force: true });
	});
	function hosts(): () => Host {
		const path = join(folder, `${files++}.db`);
		return () => {
			const host = sqliteHost(path);
			open.push(host);
			return host;
		};
	}

	test("is restored by its id; only the tools' functions of the context matter [API-037]", async () => {
		const host = hosts();
		const tools = [locate, look];
		const script = [{ text: "See", toolCalls: [asks("a"), { name: "look", id: "l" }] }];
		const first = createSession(
			"s",
			{ systemPrompt: "Be kind.", messages: [says("Before")], tools },
			{ model: scriptedModel(script), prices, host: host() },
		);
		await execute(first, says("go"), { temperature: 0.5 }).result();
		const { status, messages, totalCost, pendingToolCalls, model } = first;
		await open[0]?.close?.();
		open.length = 0;

		const ran: string[] = [];
		const mine = {
			...look,
			description: "Other.",
			parameters: { type: "object", required: ["x"] },
			execute: async () => ({ output: String(ran.push("mine")) }),
		};
		const stolen = { ...locate, execute: async () => ({ output: "not asked" }) };
		const next = scriptedModel([{ toolCalls: [{ name: "look", id: "m" }, asks("b")] }, "done"]);
		const again = createSession(
			"s",
			{
				systemPrompt: "Be rude.",
				messages: [says("Other")],
				tools: [mine, stolen, { ...look, name: "new" }],
			},
			{ model: next, prices, host: host() },
		);
		await again.ready;
		expect({ ...pick(again) }).toEqual({ status, messages, totalCost, pendingToolCalls, model });
		expect(totalCost).toBeGreaterThan(0);
		const { events, result } = await played(execute(again, [toolResult("a")]));
		expect(faultsOf(events)).toEqual([]);
		expect(result.pendingToolCalls).toEqual([{ id: "b", name: "locate", arguments: { of: "b" } }]);
		expect(ran).toEqual(["mine"]);
		const [request] = next.requests;
		expect(request?.system).toBe("Be kind.");
		expect(request?.params).toMatchObject({ temperature: 0.5 });
		expect(
			request?.tools?.map(({ name, description, parameters }) => ({ name, description, parameters })),
		).toEqual(tools.map(({ name, description, parameters }) => ({ name, description, parameters })));
		expect(request?.messages.at(-1)).toMatchObject({ results: [{ result: "at a" }, { result: "seen" }] });
		expect((await execute(again, [toolResult("b")]).result()).status).toBe("completed");
		expect(again.totalCost).toBeCloseTo(totalCost * 3);
	});

	test("whose function is missing has an error as the result of its call, and never waits for it [API-037]", async () => {
		const host = hosts()();
		const first = createSession("s", { tools: [look] }, { model: scriptedModel(["hi"]), host });
		await execute(first, says("go")).result();
		const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "done"]);
		const again = createSession("s", {}, { model, host });
		const { events, result } = await played(execute(again, says("go")));
		expect(result.status).toBe("completed");
		expect(only(events, "tool_execution_end")[0]).toMatchObject({
			isError: true,
			output: expect.stringContaining("look"),
		});
	});

	test("can be restored without a model to be read", async () => {
		const host = hosts()();
		await execute(createSession("s", {}, { model: scriptedModel(["hi"]), host }), says("go")).result();
		const again = createSession("s", {}, { host });
		await again.ready;
		expect(again).toMatchObject({ status: "completed", model: "scripted", messages: [{}, {}] });
		expect(await refusal(execute(again, says("more")))).toBe("model_missing");
		expect(again.status).toBe("completed");
		expect((await execute(again, says("more"), { model: scriptedModel(["yes"]) }).result()).status).toBe(
			"completed",
		);
	});

	test("that was left in the middle of a run finishes it before the next execution", async () => {
		const host = hosts();
		const asked = Promise.withResolvers<void>();
		const left = scriptedModel(() => {
			asked.resolve();
			return { text: "never", gate: new Promise(() => {}) };
		});
		const here = host();
		const agent = new Agent({ model: left, host: here });
		const made = createSession("s", {}, { model: scriptedModel(["first"]), host: here });
		await execute(made, says("one")).result();
		void (await agent.session("s").send("two")).result();
		await asked.promise;
		await agent.close();
		const again = createSession("s", {}, { model: scriptedModel(["second", "third"]), host: host() });
		await again.ready;
		expect(again.status).toBe("running");
		const { result } = await played(execute(again, says("three")));
		expect(result.messages).toMatchObject([{ content: "three" }, { content: [{ text: "third" }] }]);
		expect(again.messages.map(({ role }) => role)).toEqual([
			"user",
			"assistant",
			"user",
			"assistant",
			"user",
			"assistant",
		]);
		expect(again.messages[3]).toMatchObject({ content: [{ text: "second" }] });
	});

	test("keeps the time limits of waiting calls, and shows that they expired", async () => {
		const host = hosts();
		const tools = [{ ...locate, timeoutMs: 30 }];
		const first = createSession(
			"s",
			{ tools },
			{ model: scriptedModel([{ toolCalls: [asks("a")] }]), host: host() },
		);
		await execute(first, says("go")).result();
		await open.pop()?.close?.();
		const again = createSession("s", {}, { model: scriptedModel(["Never mind."]), host: host() });
		await again.ready;
		await expect.poll(() => again.status).toBe("completed");
		expect(again.messages.at(-1)).toMatchObject({ role: "assistant" });
	});
});

function pick({ status, messages, totalCost, pendingToolCalls, model }: ReturnType<typeof createSession>) {
	return { status, messages, totalCost, pendingToolCalls, model };
}

test("the status is running during an execution and the result's status afterwards; messages grow by the result's [API-038]", async () => {
	const script = [
		"Hello.",
		{ toolCalls: [asks("a")] },
		"There.",
		{ text: "No", error: new Error("broken") },
		{ text: "never", beforeDelta: () => new Promise(() => {}) },
	];
	const session = createSession("s", { tools: [locate] }, { model: scriptedModel(script) });
	const stop = new AbortController();
	const expected = ["completed", "awaiting_tool_execution", "completed", "error", "aborted"];
	for (const [at, status] of expected.entries()) {
		const before = session.messages;
		const input = at === 2 ? [toolResult("a")] : says("go");
		const stream = execute(session, input, { signal: stop.signal });
		expect(session.status).toBe("running");
		for await (const event of stream) {
			const isLast = event.type === "session_end" || event.type === "awaiting_tool_execution";
			expect(session.status).toBe(isLast ? status : "running");
			if (at === 4 && event.type === "message_end") stop.abort();
		}
		const result = await stream.result();
		expect(result.status).toBe(status);
		expect(session.status).toBe(status);
		expect(session.messages).toEqual([...before, ...result.messages]);
	}
});

test("options apply from their execution on, and the last model stays [API-044]", async () => {
	const [one, other] = [scriptedModel(["a", "d"]), scriptedModel(["b", "c"], { modelId: "other" })];
	const session = createSession("s", {}, { model: one, prices, temperature: 0 });
	expect(session.model).toBe("scripted");
	await execute(session, says("1")).result();
	const earlier = [...session.messages];
	await execute(session, says("2"), { model: other, temperature: 0.7, maxTokens: 9 }).result();
	expect(session.model).toBe("other");
	expect(session.messages.slice(0, 2)).toEqual(earlier);
	await execute(session, says("3")).result();
	expect(other.requests.map(({ params }) => params)).toMatchObject([
		{ temperature: 0.7, maxOutputTokens: 9 },
		{ temperature: 0.7, maxOutputTokens: 9 },
	]);
	await execute(session, says("4"), { model: one, temperature: 0.1 }).result();
	expect(one.requests.map(({ params }) => params)).toMatchObject([
		{ temperature: 0 },
		{ temperature: 0.1, maxOutputTokens: 9 },
	]);
	expect(session.model).toBe("scripted");
	expect(
		session.messages.flatMap((message) => (message.role === "assistant" ? [message.model] : [])),
	).toEqual(["scripted", "other", "other", "scripted"]);
});

test("options of a rejected execution have no effect [API-044]", async () => {
	const model = scriptedModel([{ toolCalls: [asks("a")] }, "done"]);
	const other = scriptedModel([], { modelId: "other" });
	const session = createSession("s", { tools: [locate] }, { model });
	await execute(session, says("1")).result();
	const refused = execute(session, [toolResult("x")], { model: other, temperature: 0.9 });
	expect(await refusal(refused)).toBe("unknown_tool_call_id");
	expect(session.model).toBe("scripted");
	expect((await execute(session, [toolResult("a")]).result()).status).toBe("completed");
	expect(model.requests).toHaveLength(2);
	expect(model.requests[1]?.params?.temperature).toBeUndefined();
	expect(await refusal(execute(session, says("2"), { temperature: Number.NaN }))).toBe("invalid_input");
});

test("the first execution can provide the model", async () => {
	const session = createSession("s", {});
	expect(session.model).toBe("");
	expect(await refusal(execute(session, says("Hi")))).toBe("model_missing");
	expect(session.status).toBe("idle");
	expect((await execute(session, says("Hi"), { model: scriptedModel(["Hello."]) }).result()).status).toBe(
		"completed",
	);
	expect(session.model).toBe("scripted");
});

test("a second execution is rejected while one is active, and leaves nothing in the history [API-045]", async () => {
	const proceed = Promise.withResolvers<void>();
	const model = scriptedModel([
		{ text: "one two three", beforeDelta: (number) => (number === 1 ? proceed.promise : undefined) },
		"next",
	]);
	const session = createSession("s", {}, { model });
	const first = execute(session, says("first"));
	const atOnce = execute(session, says("at once"));
	expect(await refusal(atOnce)).toBe("session_busy");
	let refused = 0;
	const events = [];
	for await (const event of first) {
		events.push(event);
		if (event.type !== "text_delta" || refused > 0) continue;
		for (const input of [says("second"), [toolResult("a")]]) {
			const seen: unknown[] = [];
			const second = execute(session, input);
			const reading = (async () => {
				for await (const each of second) seen.push(each);
			})();
			await expect(reading).rejects.toMatchObject({ code: "session_busy" });
			await expect(second.result()).rejects.toMatchObject({ code: "session_busy" });
			expect(seen).toEqual([]);
			refused++;
		}
		expect(session.status).toBe("running");
		proceed.resolve();
	}
	expect(refused).toBe(2);
	expect(faultsOf(events)).toEqual([]);
	expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
	expect(session.messages).toEqual(messagesIn(events));
	expect((await execute(session, says("third")).result()).status).toBe("completed");
});

test("another object of the same session also rejects a second execution [API-045]", async () => {
	const host = memoryHost();
	const proceed = Promise.withResolvers<void>();
	const model = scriptedModel([{ text: "one", gate: proceed.promise }, "two"]);
	const one = createSession("s", {}, { model, host });
	const running = execute(one, says("first"));
	const reader = running[Symbol.asyncIterator]();
	await reader.next();
	const other = createSession("s", {}, { model, host });
	expect(await refusal(execute(other, says("second")))).toBe("session_busy");
	expect(other.status).toBe("running");
	proceed.resolve();
	await running.result();
	expect((await execute(other, says("second")).result()).status).toBe("completed");
	expect(other.messages).toHaveLength(4);
});

describe("a tool that executes", () => {
	const asksTool = (act: () => unknown): AnyTool => ({
		...look,
		name: "ask",
		execute: async () => ({ output: String(await act()) }),
	});
	const asking = () => scriptedModel([{ toolCalls: [{ name: "ask", id: "x" }] }, "done"]);

	test("on another session gets its result [API-058]", async () => {
		const inner = createSession("inner", {}, { model: scriptedModel(["Forty-two.", "Again."]) });
		const ask = asksTool(async () => {
			const { messages } = await execute(inner, says("What?")).result();
			const events = await all(execute(inner, says("And?")));
			return `${JSON.stringify(messages.at(-1))} ${events.length > 5}`;
		});
		const outer = createSession("outer", { tools: [ask] }, { model: asking() });
		const { events, result } = await played(execute(outer, says("go")));
		expect(result.status).toBe("completed");
		expect(only(events, "tool_execution_end")[0]?.output).toMatch(/Forty-two.*true/);
		expect(inner.status).toBe("completed");
	});

	test("on its own session gets session_busy [API-058]", async () => {
		const codes: (string | undefined)[] = [];
		const ask = asksTool(async () => codes.push(await refusal(execute(session, says("again")))));
		const session = createSession("s", { tools: [ask] }, { model: asking() });
		expect((await execute(session, says("go")).result()).status).toBe("completed");
		expect(codes).toEqual(["session_busy"]);
		expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
	});

	test("and awaits the execution that it belongs to gets session_busy [API-058]", async () => {
		const codes: string[] = [];
		const failing = (what: Promise<unknown>) => what.catch(({ code }) => codes.push(code));
		const ask = asksTool(async () => {
			await failing(stream.result());
			await failing(all(stream));
		});
		const session = createSession("s", { tools: [ask] }, { model: asking() });
		const stream = execute(session, says("go"));
		await expect.poll(() => session.status).toBe("completed");
		expect(codes).toEqual(["session_busy", "session_busy"]);
		expect((await stream.result()).status).toBe("completed");
	});

	test("on a session whose tool executes on the first one succeeds, and that tool gets session_busy [API-058]", async () => {
		const codes: (string | undefined)[] = [];
		const back = asksTool(async () => codes.push(await refusal(execute(outer, says("back")))));
		const inner = createSession("inner", { tools: [back] }, { model: asking() });
		const ask = asksTool(async () => (await execute(inner, says("in")).result()).status);
		const outer = createSession("outer", { tools: [ask] }, { model: asking() });
		const { events } = await played(execute(outer, says("go")));
		expect(codes).toEqual(["session_busy"]);
		expect(only(events, "tool_execution_end")[0]?.output).toBe("completed");
	});
});

test("a host without a journal is rejected at once, with an explanation", () => {
	const host = { sessionStore: {} } as unknown as Host;
	expect(() => createSession("s", {}, { host })).toThrow(
		/`host` of createSession\(\) must be a host, .*sqliteHost/,
	);
});
