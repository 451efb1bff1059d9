import { scriptedModel } from "@holdfast/testing";
import type { StreamEvent } from "@holdfast/upp";
import { AssistantMessage } from "@holdfast/upp";
import { describe, expect, test, vi } from "vitest";
import { answer, modelOf } from "../agent/agent.fixture.ts";
import { EventQueue } from "../engine/event-queue.ts";
import { systemPorts, type Timers } from "../host/ports.ts";
import { settled } from "../sessions/sessions.fixture.ts";
import type { AnyTool } from "../tools/types.ts";
import { createSession, execute } from "./create-session.ts";
import { all, asks, faultsOf, joined, locate, only, played, says, toolResult } from "./execute.fixture.ts";
import type { ExecuteEvent } from "./execute-event.ts";

/** A model that streams a number of pieces and counts how many were read. */
function counting(pieces: number) {
	const counted = { taken: 0 };
	const text = Array.from({ length: pieces }, (_, at) => `${at} `);
	const model = modelOf({
		stream() {
			const done = Promise.withResolvers<ReturnType<typeof answer>>();
			return {
				response: done.promise,
				async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent> {
					for (const piece of text) {
						counted.taken++;
						yield { type: "text_delta", index: 0, delta: { text: piece } };
					}
					done.resolve(answer(new AssistantMessage([{ type: "text", text: text.join("") }])));
				},
			};
		},
	});
	return { counted, model, whole: text.join("") };
}

describe("the result", () => {
	test("is available even if no one reads, and is the same for everyone [API-039]", async () => {
		const session = createSession("s", {}, { model: scriptedModel(["Hello there."]) });
		const stream = execute(session, says("Hi"));
		const [one, other] = await Promise.all([stream.result(), stream.result()]);
		expect(one).toBe(other);
		expect(await stream.result()).toBe(one);
		expect(one).toMatchObject({
			status: "completed",
			messages: [{ role: "user" }, { role: "assistant" }],
			cost: 0,
		});
	});

	test("is available even if its reader pauses at the limit, and the reader then misses nothing [API-039]", async () => {
		const { counted, model, whole } = counting(2_000);
		const session = createSession("s", {}, { model, bufferLimit: 10 });
		const stream = execute(session, says("go"));
		const reader = stream[Symbol.asyncIterator]();
		const events = [(await reader.next()).value as ExecuteEvent];
		await settled();
		expect(counted.taken).toBeLessThan(20);
		const result = await stream.result();
		expect(result.status).toBe("completed");
		expect(await stream.result()).toBe(result);
		for (let next = await reader.next(); !next.done; next = await reader.next()) events.push(next.value);
		expect(faultsOf(events)).toEqual([]);
		expect(only(events, "text_end")[0]?.text).toBe(whole);
		expect(events.length).toBeLessThan(50);
	});

	test("keeps no buffer that grows with the number of deltas if no one reads [API-039]", async () => {
		const { model, whole } = counting(20_000);
		const chatty: AnyTool = {
			name: "chatty",
			description: "Talks.",
			parameters: { type: "object" },
			async *execute() {
				for (let at = 0; at < 20_000; at++) yield { type: "delta", delta: "." };
			},
		};
		for (const [session, limit] of [
			[createSession("s", {}, { model }), 1_000],
			[
				createSession(
					"t",
					{ tools: [chatty] },
					{ model: scriptedModel([{ toolCalls: [{ name: "chatty" }] }, "done"]), bufferLimit: 50 },
				),
				50,
			],
		] as const) {
			const stream = execute(session, says("go"));
			await stream.result();
			const events = await all(stream);
			expect(events.length).toBeLessThan(limit + 30);
			expect(faultsOf(events)).toEqual([]);
		}
		expect(whole.length).toBeGreaterThan(100_000);
	});

	test("keeps no event beyond the limit if no one reads; late readers find all of them in the journal [API-039]", async () => {
		const rounds = 200;
		const look: AnyTool = {
			name: "look",
			description: "Looks.",
			parameters: { type: "object" },
			execute: async (id: string) => ({ output: `seen ${id}` }),
		};
		const answers = Array.from({ length: rounds }, (_, at) => ({
			text: `step ${at}`,
			toolCalls: [{ name: "look", id: `l${at}` }],
		}));
		const make = (bufferLimit: number) =>
			execute(
				createSession("s", { tools: [look] }, { model: scriptedModel([...answers, "done"]), bufferLimit }),
				says("go"),
			);
		const timeless = (events: readonly ExecuteEvent[]) =>
			JSON.parse(
				JSON.stringify(joined(events), (name, value) =>
					["timestamp", "id", "duration"].includes(name) ? undefined : value,
				),
			);
		const read = timeless(await all(make(10_000)));
		const kept = vi.spyOn(EventQueue.prototype, "push");
		const stream = make(10);
		expect((await stream.result()).messages).toHaveLength(2 * rounds + 2);
		// The execution's queue, not that of the keyed session.
		const held = kept.mock.calls.filter(([event]) => (event as ExecuteEvent).type.includes("_"));
		expect(held.length).toBeGreaterThan(5);
		expect(held.length).toBeLessThan(20);
		kept.mockRestore();
		const events = await all(stream);
		expect(faultsOf(events)).toEqual([]);
		expect(timeless(events)).toEqual(read);
	});

	test("may be awaited before, during and after reading the events [API-040]", async () => {
		const session = createSession("s", {}, { model: scriptedModel(["one two three four"]) });
		const stream = execute(session, says("Hi"));
		const before = stream.result();
		const results = [before];
		const events: ExecuteEvent[] = [];
		for await (const event of stream) {
			events.push(event);
			if (event.type === "text_start") results.push(stream.result());
		}
		results.push(stream.result());
		for (const result of results) expect(await result).toBe(await before);
		expect(faultsOf(events)).toEqual([]);
		expect(only(events, "text_end")).toEqual([{ type: "text_end", text: "one two three four" }]);
	});
});

test("the events have one consumer; a second is rejected at once [API-040]", async () => {
	const session = createSession("s", {}, { model: scriptedModel(["Hello."]) });
	const stream = execute(session, says("Hi"));
	const reader = stream[Symbol.asyncIterator]();
	await reader.next();
	expect(() => stream[Symbol.asyncIterator]()).toThrow(
		expect.objectContaining({ code: "events_already_consumed" }),
	);
	await expect(all(stream)).rejects.toMatchObject({ code: "events_already_consumed" });
	expect((await stream.result()).status).toBe("completed");
	expect((await reader.next()).done).toBe(false);
});

test("leaving the events does not end the execution [API-041]", async () => {
	const ran: string[] = [];
	const look: AnyTool = {
		name: "look",
		description: "Looks.",
		parameters: { type: "object" },
		async *execute(id: string) {
			for (let at = 0; at < 50; at++) yield { type: "delta", delta: "." };
			ran.push(id);
			yield { type: "complete", output: "seen" };
		},
	};
	const text = "word ".repeat(500);
	const model = scriptedModel([{ text, toolCalls: [{ name: "look", id: "l" }] }, { text }]);
	const session = createSession("s", { tools: [look] }, { model, bufferLimit: 5 });
	const stream = execute(session, says("Hi"));
	for await (const event of stream) if (event.type === "text_delta") break;
	await expect.poll(() => session.status).toBe("completed");
	expect((await stream.result()).status).toBe("completed");
	expect(ran).toEqual(["l"]);
	expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
	expect(session.messages.at(-1)).toMatchObject({ content: [{ type: "text", text }] });
});

describe("a consumer that pauses", () => {
	test.each([
		["1,000 events by default", undefined, 1_000],
		["the limit that was set", 30, 30],
	])("makes the model wait at %s, and then misses nothing [API-042]", async (_, bufferLimit, limit) => {
		const { counted, model, whole } = counting(5_000);
		const session = createSession("s", {}, { model, ...(bufferLimit === undefined ? {} : { bufferLimit }) });
		const stream = execute(session, says("go"));
		const events: ExecuteEvent[] = [];
		for await (const event of stream) {
			events.push(event);
			if (events.length > 1) continue;
			await settled();
			expect(counted.taken).toBeGreaterThan(limit - 10);
			expect(counted.taken).toBeLessThanOrEqual(limit);
		}
		expect(faultsOf(events)).toEqual([]);
		expect(only(events, "text_delta")).toHaveLength(5_000);
		expect(only(events, "text_end")[0]?.text).toBe(whole);
	});

	test("makes a tool wait, too [API-042]", async () => {
		let yielded = 0;
		const chatty: AnyTool = {
			name: "chatty",
			description: "Talks.",
			parameters: { type: "object" },
			async *execute() {
				for (let at = 0; at < 250; at++) {
					yielded++;
					yield { type: "delta", delta: "." };
				}
			},
		};
		const model = scriptedModel([
			{
				toolCalls: [
					{ name: "chatty", id: "a" },
					{ name: "chatty", id: "b" },
				],
			},
			"done",
		]);
		// Timers that end the patience with an inactive consumer at once.
		const timers: Timers = {
			after(_, wake) {
				const timer = setTimeout(wake);
				return () => clearTimeout(timer);
			},
		};
		const ports = { ...systemPorts, timers };
		const session = createSession("s", { tools: [chatty] }, { model, bufferLimit: 20, ports });
		const stream = execute(session, says("go"));
		const events: ExecuteEvent[] = [];
		for await (const event of stream) {
			events.push(event);
			if (events.length > 1) continue;
			await expect.poll(() => yielded).toBeGreaterThan(0);
			await settled();
			expect(yielded).toBeLessThan(25);
		}
		expect(faultsOf(events)).toEqual([]);
		expect(only(events, "tool_execution_delta")).toHaveLength(500);
		for (const { output } of only(events, "tool_execution_end")) expect(output).toBe(".".repeat(250));
	});

	test("at the limit can be stopped by a signal", async () => {
		const { model } = counting(5_000);
		const session = createSession("s", {}, { model, bufferLimit: 5 });
		const stop = new AbortController();
		const stream = execute(session, says("go"), { signal: stop.signal });
		const reader = stream[Symbol.asyncIterator]();
		await reader.next();
		await settled();
		stop.abort();
		await expect.poll(() => session.status).toBe("aborted");
		const rest: ExecuteEvent[] = [];
		for (let next = await reader.next(); !next.done; next = await reader.next()) rest.push(next.value);
		expect(rest.at(-1)?.type).toBe("session_end");
	});
});

test("a model that waited for its reader once, and then never ends, can be stopped by a signal", async () => {
	const model = modelOf({
		stream() {
			const never = new Promise<never>(() => {});
			return {
				response: never,
				async *[Symbol.asyncIterator](): AsyncGenerator<StreamEvent> {
					for (let at = 0; at < 20; at++) yield { type: "text_delta", index: 0, delta: { text: "." } };
					await never;
				},
			};
		},
	});
	const session = createSession("s", {}, { model, bufferLimit: 2 });
	const stop = new AbortController();
	const stream = execute(session, says("go"), { signal: stop.signal });
	let pieces = 0;
	for await (const event of stream) if (event.type === "text_delta" && ++pieces === 20) stop.abort();
	expect((await stream.result()).status).toBe("aborted");
});

test("without backpressure, the emitted content is the same in larger pieces", async () => {
	const script = () => scriptedModel([{ reasoning: "a b c", text: "x y z", toolCalls: [asks("a")] }, "done"]);
	const rows = [];
	for (const reads of ["at once", "later"]) {
		const session = createSession("s", { tools: [locate] }, { model: script(), bufferLimit: 3 });
		const stream = execute(session, says("go"));
		if (reads === "later") await stream.result();
		const { events } = await played(stream);
		rows.push(joined(events).map((event) => ({ ...event, message: undefined, messages: undefined })));
		await execute(session, [toolResult("a")]).result();
	}
	expect(rows[1]).toEqual(rows[0]);
});

test("the cost of a session is the sum of its executions, including those of refused answers [API-043]", async () => {
	const prices = { scripted: { input: 1_000, output: 10_000 } };
	const usage = (inputTokens: number, outputTokens: number) => ({
		usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
	});
	const model = scriptedModel([
		{ text: "one", ...usage(10, 1) },
		{ toolCalls: [asks("a"), asks("b")], ...usage(20, 2) },
		{ toolCalls: [asks("c")], ...usage(30, 3) },
		{ text: "done", ...usage(40, 4) },
		{ text: "I w", stopReason: "content_filter", ...usage(50, 5) },
		{ text: "half", error: new Error("broken"), ...usage(1, 1) },
	]);
	const session = createSession("s", { tools: [locate] }, { model, prices });
	const inputs = [
		says("1"),
		says("2"),
		[toolResult("a")],
		[toolResult("b")],
		[toolResult("c")],
		says("3"),
		says("4"),
	];
	const expected = [0.02, 0.04, 0, 0.06, 0.08, 0.1, 0];
	let sum = 0;
	for (const [at, input] of inputs.entries()) {
		const { cost, messages } = await execute(session, input).result();
		expect(cost).toBeCloseTo(expected[at] as number, 10);
		const costs = messages.map((message) => {
			const said =
				message.role === "assistant" ? message : "partial" in message ? message.partial : undefined;
			return said?.usage.cost ?? 0;
		});
		expect(costs.reduce((total, each) => total + each, 0)).toBeCloseTo(cost, 10);
		sum += cost;
		expect(session.totalCost).toBeCloseTo(sum, 10);
	}
	expect(sum).toBeCloseTo(0.3, 10);
});
