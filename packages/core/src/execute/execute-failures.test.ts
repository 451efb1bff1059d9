import { manualTime, type ScriptedModel, scriptedModel } from "@holdfast/testing";
import { type AssistantMessage, type Message, type StreamEvent, UPPError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import type { AnyTool, ToolContext } from "../tools/types.ts";
import { createSession, execute } from "./create-session.ts";
import {
	all,
	asks,
	faultsOf,
	locate,
	messagesIn,
	only,
	played,
	says,
	shownLast,
	streamingModel,
	toolResult,
	types,
} from "./execute.fixture.ts";
import type { ExecuteEvent } from "./execute-event.ts";

const broken = new UPPError("The line went dead.", "NETWORK_ERROR", "scripted", "llm");
const never = new Promise<never>(() => {});

/** Returns the parts of a request that no provider accepts: unknown roles, and calls without results. */
function faultsOfRequest(messages: readonly Message[]): string[] {
	const open = new Set<string>();
	const faults: string[] = [];
	for (const message of messages) {
		if (!["user", "assistant", "tool_result"].includes(message.type))
			faults.push(`a message of type ${message.type}`);
		if (message.type === "tool_result")
			for (const { toolCallId } of (message as unknown as { results: { toolCallId: string }[] }).results)
				open.delete(toolCallId);
		else if (open.size > 0) faults.push(`calls without results: ${[...open]}`);
		for (const { toolCallId } of (message as AssistantMessage).toolCalls ?? []) open.add(toolCallId);
	}
	return open.size > 0 ? [...faults, "calls without results at the end"] : faults;
}

/** Expects the next execution to complete, and its model to receive nothing that it cannot accept. */
async function expectContinues(
	session: ReturnType<typeof createSession>,
	model: ScriptedModel,
	lost: string,
): Promise<void> {
	const before = model.requests.length;
	const { events, result } = await played(execute(session, says("And now?")));
	expect(faultsOf(events)).toEqual([]);
	expect(result.status).toBe("completed");
	for (const { messages } of model.requests.slice(before)) {
		expect(faultsOfRequest(messages)).toEqual([]);
		expect(JSON.stringify(messages)).not.toContain(lost);
	}
}

test("an answer that is cut off where its run waits for the model is ended and generated again", async () => {
	const time = manualTime();
	const model = scriptedModel([{ text: "I was about to", error: broken }, "Done."]);
	const session = createSession("s", {}, { model, modelWait: {}, ports: time.ports });
	const playing = played(execute(session, says("go")));
	await expect.poll(() => session.waiting).toMatchObject({ reason: "model", code: "NETWORK_ERROR" });
	time.pass(36_000);
	const { events, result } = await playing;
	expect(messagesIn(events)[1]).toMatchObject({ role: "error", code: "interrupted" });
	expect(result.status).toBe("completed");
	const ends = types(events).filter((type) => type === "message_start" || type === "message_end");
	expect(ends.filter((type) => type === "message_start")).toHaveLength(ends.length / 2);
	expect(faultsOf(events)).toEqual([]);
	expect(session.messages.at(-1)).toMatchObject({ role: "assistant" });
});

test("an execution that waits for the model counts as active: it is followed to its end, rejects another, and ends when its signal aborts", async () => {
	const time = manualTime();
	const busy = { error: broken };
	const model = scriptedModel([busy, "One.", busy, "never"]);
	const session = createSession("s", {}, { model, modelWait: {}, ports: time.ports });
	const playing = played(execute(session, says("go")));
	await expect.poll(() => session.waiting).toMatchObject({ reason: "model", tag: "model", attempt: 1 });
	expect(session.status).toBe("running");
	expect(session.pendingToolCalls).toBeUndefined();
	await expect(execute(session, says("more")).result()).rejects.toMatchObject({ code: "session_busy" });
	time.pass(36_000);
	const { events, result } = await playing;
	expect(result.status).toBe("completed");
	expect(types(events).filter((type) => type === "waiting" || type === "resumed")).toEqual([
		"waiting",
		"resumed",
	]);
	expect(only(events, "waiting")[0]).toMatchObject({ until: expect.any(Number), reason: "model" });
	const stop = new AbortController();
	const second = execute(session, says("again"), { signal: stop.signal }).result();
	await expect.poll(() => session.waiting).toBeDefined();
	stop.abort();
	expect(await second).toMatchObject({ status: "aborted" });
	expect(session).toMatchObject({ status: "aborted", waiting: undefined });
	time.pass(36_000);
	expect(model.requests).toHaveLength(3);
});

test("a model that fails in the middle of an answer ends it as an error with its partial text [API-046, API-048]", async () => {
	const model = scriptedModel([{ reasoning: "Hm, well", text: "I was about to", error: broken }]);
	const session = createSession("s", {}, { model });
	const { events, result } = await played(execute(session, says("go")));
	expect(faultsOf(events)).toEqual([]);
	expect(types(events).slice(-5)).toEqual(["text_delta", "text_end", "message_end", "error", "session_end"]);
	expect(only(events, "message_start").map(({ role }) => role)).toEqual(["user", "assistant"]);
	const message = messagesIn(events)[1];
	expect(message).toMatchObject({
		role: "error",
		error: "The line went dead.",
		code: "NETWORK_ERROR",
		partial: {
			role: "assistant",
			content: [
				{ type: "thinking", thinking: "Hm, well" },
				{ type: "text", text: "I was about to" },
			],
		},
	});
	expect(only(events, "error")).toEqual([
		{ type: "error", error: "The line went dead.", code: "NETWORK_ERROR", reason: "provider", message },
	]);
	expect(result).toMatchObject({
		status: "error",
		error: { code: "NETWORK_ERROR", message: "The line went dead." },
	});
	expect(result.messages).toEqual(messagesIn(events));
	expect(session.messages.at(-1)).toEqual(message);
	expect(session.status).toBe("error");
});

test("a model that fails in the middle of a call's arguments ends the message, too [API-046]", async () => {
	const events: StreamEvent[] = [
		{ type: "text_delta", index: 0, delta: { text: "See" } },
		{
			type: "tool_call_delta",
			index: 0,
			delta: { toolCallId: "a", toolName: "locate", argumentsJson: '{"of": "so' },
		},
	];
	const model = streamingModel([{ events, response: broken }]);
	const session = createSession("s", { tools: [locate] }, { model });
	const { events: seen, result } = await played(execute(session, says("go")));
	expect(faultsOf(seen)).toEqual([]);
	expect(messagesIn(seen)[1]).toMatchObject({
		role: "error",
		partial: { content: [{ type: "text", text: "See" }] },
	});
	expect(only(seen, "toolcall_end")).toEqual([]);
	expect(result.status).toBe("error");
	expect(result.pendingToolCalls).toBeUndefined();
});

test("a model that fails before its first output leaves an error without a partial [API-047, API-048]", async () => {
	const model = scriptedModel([{ error: broken }]);
	const session = createSession("s", {}, { model });
	const { events, result } = await played(execute(session, says("go")));
	const message = {
		role: "error",
		error: "The line went dead.",
		code: "NETWORK_ERROR",
		timestamp: expect.any(Number),
	};
	expect(events.slice(3)).toEqual([
		{ type: "message_start", role: "error" },
		{ type: "message_end", message },
		{
			type: "error",
			error: "The line went dead.",
			code: "NETWORK_ERROR",
			reason: "provider",
			message: messagesIn(events)[1],
		},
		{ type: "session_end", sessionId: "s", messages: result.messages },
	]);
	expect(messagesIn(events)[1]).not.toHaveProperty("partial");
	expect(session.messages.map(({ role }) => role)).toEqual(["user", "error"]);
	expect(result.status).toBe("error");
});

test("an answer that started and failed before its first output leaves no empty message [API-047]", async () => {
	const events: StreamEvent[] = [
		{ type: "message_start", index: 0, delta: {} },
		{ type: "content_block_start", index: 0, delta: {} },
		{ type: "text_delta", index: 0, delta: { text: "" } },
	];
	const session = createSession("s", {}, { model: streamingModel([{ events, response: broken }]) });
	const { events: seen } = await played(execute(session, says("go")));
	expect(types(seen).slice(3)).toEqual(["message_start", "message_end", "error", "session_end"]);
	expect(messagesIn(seen)[1]).not.toHaveProperty("partial");
});

test("a provider that refuses the request reports content_filtered, as it does for an answer", async () => {
	const refused = new UPPError("Blocked.", "CONTENT_FILTERED", "scripted", "llm");
	const session = createSession("s", {}, { model: scriptedModel([{ error: refused }]) });
	const { result } = await played(execute(session, says("go")));
	expect(result.error).toEqual({ code: "content_filtered", message: "Blocked." });
	expect(session.messages[1]).toMatchObject({ role: "error", code: "content_filtered" });
});

test("a signal in the middle of an answer ends it as aborted with its partial text, and reaches the provider [API-049]", async () => {
	const stop = new AbortController();
	const model = scriptedModel([
		{ text: "one two three", beforeDelta: (number) => (number === 2 ? never : undefined) },
	]);
	const session = createSession("s", {}, { model });
	const stream = execute(session, says("go"), { signal: stop.signal });
	const events: ExecuteEvent[] = [];
	for await (const event of stream) {
		events.push(event);
		if (event.type === "text_delta" && event.delta.includes("two")) stop.abort();
	}
	const result = await stream.result();
	expect(faultsOf(events)).toEqual([]);
	expect(types(events).slice(-3)).toEqual(["text_end", "message_end", "session_end"]);
	expect(only(events, "message_start").map(({ role }) => role)).toEqual(["user", "assistant"]);
	expect(messagesIn(events)[1]).toMatchObject({
		role: "aborted",
		partial: { content: [{ type: "text", text: "one two" }] },
	});
	expect(result.status).toBe("aborted");
	expect(result.error).toBeUndefined();
	expect(session.status).toBe("aborted");
	expect(model.requests[0]?.signal?.aborted).toBe(true);
});

test("a signal before any output leaves only an aborted message [API-049]", async () => {
	for (const when of ["before", "after"]) {
		const stop = new AbortController();
		if (when === "before") stop.abort();
		const asked = Promise.withResolvers<void>();
		const model = scriptedModel(() => {
			asked.resolve();
			return { text: "never", gate: never };
		});
		const session = createSession("s", {}, { model });
		const stream = execute(session, says("go"), { signal: stop.signal });
		if (when === "after") void asked.promise.then(() => stop.abort());
		const { events, result } = await played(stream);
		expect(faultsOf(events)).toEqual([]);
		expect(result.status).toBe("aborted");
		expect(messagesIn(events).map(({ role }) => role)).toEqual(["user", "aborted"]);
		expect(messagesIn(events)[1]).not.toHaveProperty("partial");
	}
});

describe("a signal while tools run", () => {
	async function stopped() {
		const stop = new AbortController();
		const signals: AbortSignal[] = [];
		const tool = (name: string, execute: AnyTool["execute"]): AnyTool => ({
			name,
			description: `Does ${name}.`,
			parameters: { type: "object" },
			execute,
		});
		const quick = tool("quick", async () => ({ output: "done in time" }));
		const slow = tool("slow", (_id: string, _params: unknown, { signal }: ToolContext) => {
			signals.push(signal);
			return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
		});
		const deaf = tool("deaf", (_id: string, _params: unknown, { signal }: ToolContext) => {
			signals.push(signal);
			return never;
		});
		const calls = [asks("r"), ...["quick", "slow", "deaf"].map((name) => ({ name, id: name }))];
		const model = scriptedModel([{ text: "All", toolCalls: calls }, "Fine."]);
		const session = createSession("s", { tools: [locate, quick, slow, deaf] }, { model });
		const stream = execute(session, says("go"), { signal: stop.signal });
		const events: ExecuteEvent[] = [];
		for await (const event of stream) {
			events.push(event);
			if (
				event.type === "message_end" &&
				event.message.role === "tool" &&
				event.message.toolCallId === "quick"
			)
				stop.abort();
		}
		return { events, session, model, signals, result: await stream.result() };
	}

	test("keeps finished calls, and every other call has an error that explains it [API-049, API-050]", async () => {
		const { events, session, signals, result } = await stopped();
		expect(faultsOf(events)).toEqual([]);
		expect(result.status).toBe("aborted");
		expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
		const results = session.messages.flatMap((message) => (message.role === "tool" ? [message] : []));
		expect(results).toHaveLength(4);
		for (const { toolCallId, output, isError } of results) {
			expect(isError).toBe(toolCallId !== "quick");
			expect(output).toMatch(toolCallId === "quick" ? /^done in time$/ : /cancelled/);
		}
		expect(session.messages.at(-1)?.role).toBe("aborted");
		expect(session.pendingToolCalls).toBeUndefined();
		expect(events.at(-1)).toEqual({ type: "session_end", sessionId: "s", messages: result.messages });
	});

	test("leaves a history that the next execution continues [API-050, API-051]", async () => {
		const { session, model } = await stopped();
		await expectContinues(session, model, "aborted");
		expect(session.messages.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "Fine." }] });
	});
});

describe("the next execution completes, and its model does not see", () => {
	test("an answer that failed [API-051]", async () => {
		const model = scriptedModel([{ text: "lost words", error: broken }, "Fine."]);
		const session = createSession("s", {}, { model });
		await execute(session, says("go")).result();
		await expectContinues(session, model, "lost words");
	});

	test("an answer that was stopped [API-051]", async () => {
		const stop = new AbortController();
		const beforeDelta = (number: number): unknown => {
			if (number === 0) return undefined;
			stop.abort();
			return never;
		};
		const model = scriptedModel([{ text: "lost words", beforeDelta }, "Fine."]);
		const session = createSession("s", {}, { model });
		expect((await execute(session, says("go"), { signal: stop.signal }).result()).status).toBe("aborted");
		await expectContinues(session, model, "lost");
	});

	test("a failure after results [API-051]", async () => {
		const model = scriptedModel([{ toolCalls: [asks("a")] }, { text: "lost words", error: broken }, "Fine."]);
		const session = createSession("s", { tools: [locate] }, { model });
		await execute(session, says("go")).result();
		expect((await execute(session, [toolResult("a")]).result()).status).toBe("error");
		await expectContinues(session, model, "lost words");
	});

	test("an error and an abort in the history it was made with [API-051]", async () => {
		const model = scriptedModel(["Fine.", "Fine again."]);
		const partial = {
			role: "assistant",
			id: "p",
			content: [{ type: "text", text: "lost words" }],
			model: "scripted",
			stopReason: "stop",
			usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
			timestamp: 0,
		} as const;
		const messages = [
			says("one"),
			{ role: "error", error: "broken", code: "x", partial, timestamp: 0 },
			says("two"),
			{ role: "aborted", partial, timestamp: 0 },
			{
				...partial,
				content: [{ type: "toolCall", id: "a", name: "locate", arguments: {} }],
				stopReason: "tool_calls",
			},
		] as const;
		const session = createSession("s", { messages, tools: [locate] }, { model });
		await expectContinues(session, model, "lost words");
		expect(session.messages).toHaveLength(7);
		expect(shownLast(model)).toBeUndefined();
	});
});

test("aborting after the end changes nothing", async () => {
	const stop = new AbortController();
	const session = createSession("s", {}, { model: scriptedModel(["Fine.", "Again."]) });
	await all(execute(session, says("go"), { signal: stop.signal }));
	stop.abort();
	expect(session.status).toBe("completed");
	expect((await execute(session, says("go")).result()).status).toBe("completed");
});
