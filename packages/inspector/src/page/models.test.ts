// What the page derives from entries: conversation, timeline, plans and charts, with entries as a service writes them.
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { type Inspected, inspect } from "../routes/inspected.fixture.ts";
import type { ShownEntry } from "../wire/index.ts";
import { bucketsOf } from "./charts.tsx";
import { Conversation } from "./conversation-model.ts";
import { modelRows } from "./models-table.tsx";
import { planAndAudit } from "./plan-model.ts";
import { placeOf, Timeline } from "./timeline-model.ts";
import { turnsOf } from "./turns.ts";

let opened: Inspected | undefined;
afterEach(() => opened?.close());

const add = { name: "add", description: "Adds.", parameters: { type: "object" }, run: () => ({ sum: 3 }) };
const ask = { name: "ask", description: "Asks.", parameters: { type: "object" } };

/** The entries of a session in which these things were said. */
async function entriesOf(said: readonly string[]): Promise<readonly ShownEntry[]> {
	opened = inspect(
		({ messages }) => {
			// Its text alone: an id may have any letters.
			const last = String((messages.at(-1) as { readonly text?: string } | undefined)?.text);
			if (messages.at(-1)?.type === "tool_result") return "Done.";
			if (last.includes("add"))
				return { text: "Let me see.", toolCalls: [{ name: "add", arguments: { a: 1 } }] };
			if (last.includes("ask")) return { toolCalls: [{ name: "ask", arguments: { what: "colour" } }] };
			if (last.includes("long")) return { text: "Once upon", stopReason: "length" };
			if (last.includes("fail")) return { error: new Error("It broke.") };
			return "Very well.";
		},
		{ tools: [add, ask] },
	);
	for (const each of said) await opened.say("s", each);
	return (await opened.get("session/s/entries")).body.entries;
}

function conversationOf(entries: readonly ShownEntry[]): Conversation {
	const made = new Conversation();
	for (const entry of entries) made.add(entry);
	return made;
}

test("a conversation has the messages in order, and calls with their results", async () => {
	const { said, pending } = conversationOf(await entriesOf(["Hello", "add it", "fail now"]));
	expect(said.map(({ who, text }) => `${who}: ${text.slice(0, 12)}`)).toEqual([
		"user: Hello",
		"assistant: Very well.",
		"user: add it",
		"assistant: Let me see.",
		"assistant: Done.",
		"user: fail now",
		expect.stringMatching(/^error: /),
	]);
	expect(said[3]?.calls).toMatchObject([
		{ name: "add", input: { a: 1 }, outcome: "done", result: { sum: 3 } },
	]);
	expect(pending).toEqual([]);
});

test("an answer has the calls that its provider ran itself, and its sources", async () => {
	const entry = (await entriesOf(["Hello"])).find(({ kind }) => kind === "assistant") as ShownEntry;
	const { message, ...rest } = entry.body as { readonly message: object };
	const call = { toolCallId: "w", toolName: "web_search" };
	const parts = [
		{ at: 0, part: { type: "tool-call", ...call, input: { query: "a" }, providerExecuted: true } },
		{ at: 0, part: { type: "tool-result", ...call, output: { type: "json", value: { hits: 1 } } } },
	];
	const sources = [{ sourceType: "url", id: "1", url: "https://example.com", title: "A" }];
	const body = { ...rest, message: { ...message, metadata: { upp: { parts, sources } } } };
	const [said] = conversationOf([{ ...entry, body }]).said;
	expect(said?.calls).toMatchObject([
		{ name: "web_search", input: { query: "a" }, outcome: "done", result: { hits: 1 } },
	]);
	expect(said?.sources).toEqual([{ title: "A", url: "https://example.com" }]);
});

test("a message that was added from outside is shown, changed and removed by its id", async () => {
	const entries = await entriesOf(["Hello"]);
	const first = entries[0] as ShownEntry;
	const later = (kind: string, body: ShownEntry["body"], at: number): ShownEntry => ({
		...first,
		seq: entries.length + at,
		kind,
		body,
	});
	const said = (text: string) => ({ id: "m-1", type: "user", content: [{ type: "text", text }] });
	const shown = conversationOf(entries);
	const texts = () => shown.said.map(({ who, text }) => `${who}: ${text}`);
	shown.add(later("message.added", { message: said("By the way") }, 1));
	expect(texts()).toEqual(["user: Hello", "assistant: Very well.", "user: By the way"]);
	shown.add(later("message.updated", { messageId: "m-1", message: said("Never mind") }, 2));
	expect(texts().at(-1)).toBe("user: Never mind");
	shown.add(later("message.deleted", { messageId: "m-1" }, 3));
	expect(texts()).toEqual(["user: Hello", "assistant: Very well."]);
});

test("a waiting call is pending until it is answered, with its input", async () => {
	const entries = await entriesOf(["ask me"]);
	const { pending } = conversationOf(entries);
	expect(pending).toMatchObject([{ name: "ask", input: { what: "colour" }, awaits: "result" }]);
	const { spans } = timelineOf(entries);
	expect(spans.findLast(({ kind }) => kind === "wait")?.end).toBeUndefined();
});

function timelineOf(entries: readonly ShownEntry[]): Timeline {
	const made = new Timeline();
	for (const entry of entries) made.add(entry);
	return made;
}

test("a timeline has runs, answers and calls, each within its run; ended ones have an end", async () => {
	const { spans, last } = timelineOf(await entriesOf(["Hello", "add it", "fail now"]));
	expect(spans.map(({ kind }) => kind)).toEqual([
		"run",
		"input",
		"model",
		"run",
		"input",
		"model",
		"tool",
		"model",
		"run",
		"input",
	]);
	for (const span of spans) {
		const { left, width } = placeOf(span, last);
		expect(left).toBeGreaterThanOrEqual(0);
		expect(left + width).toBeLessThanOrEqual(1 + 1e-9);
		expect(span.end).toBeDefined();
	}
	expect(spans.filter(({ kind }) => kind === "run").map(({ failed }) => failed)).toEqual([
		false,
		false,
		true,
	]);
});

test("turns have their input and their end", async () => {
	const turns = turnsOf(await entriesOf(["Hello", "add it", "ask me"]));
	expect(turns.map(({ number, text, end }) => [number, text, end !== undefined])).toEqual([
		[1, "Hello", true],
		[2, "add it", true],
		[3, "ask me", false],
	]);
});

test("charts contain everything that happened, for any division", async () => {
	const entries = await entriesOf(["Hello", "add it", "fail now"]);
	const buckets = bucketsOf(entries);
	const sum = (name: "answers" | "errors" | "toolCalls") =>
		buckets.reduce((total, bucket) => total + bucket[name], 0);
	expect([buckets.length, sum("answers"), sum("toolCalls"), sum("errors")]).toEqual([60, 3, 1, 1]);
	expect(bucketsOf([])).toHaveLength(60);
});

test("verification accepts a journal as written, and rejects one with removed entries", async () => {
	const entries = await entriesOf(["add it", "add again"]);
	expect(planAndAudit(entries).checks.filter(({ ok }) => !ok)).toEqual([]);
	const without = (kind: string) => entries.filter((entry) => entry.kind !== kind);
	const failing = (given: readonly ShownEntry[]) =>
		planAndAudit(given).checks.flatMap(({ name, ok }) => (ok ? [] : [name]));
	expect(failing(without("input"))).toContain("The journal is complete");
	const unbegun = entries.map((entry) =>
		entry.kind === "tool.settled"
			? { ...entry, body: { ...entry.body, duration: 5, callId: "other" } }
			: entry,
	);
	expect(failing(unbegun)).toEqual(["Every call was recorded before it ran"]);
	const [first] = entries;
	const late = { ...(first as ShownEntry), seq: entries.length + 1, kind: "note", body: { topic: "late" } };
	expect(failing([...entries, late])).toContain("Each run ends once, with its last entry");
});

test("plans of the runner have a record next to each verdict, or the check fails", () => {
	const at = 1;
	const verdict = { action: "blocked", rule: "tools", message: "No." };
	const decision = {
		seq: 1,
		at,
		runId: "r",
		kind: "decision",
		body: { step: 1, topic: "runner.plan", answer: { step: { type: "tool", toolId: "pay" }, verdict } },
	};
	const record = {
		id: "1",
		timestamp: new Date(at).toISOString(),
		point: "tool",
		rule: "tools",
		action: "blocked",
	};
	const note = {
		seq: 2,
		at,
		runId: "r",
		kind: "note",
		body: { step: 1, topic: "runner.audit", value: record },
	};
	const { plans, audit, checks } = planAndAudit([decision, note]);
	expect(plans).toMatchObject([{ what: "call pay", state: "blocked", detail: "tools: No." }]);
	expect(audit).toMatchObject([{ seq: 2, rule: "tools", action: "blocked" }]);
	expect(checks.every(({ ok }) => ok)).toBe(true);
	const unrecorded = planAndAudit([decision]).checks.filter(({ ok }) => !ok);
	expect(unrecorded.map(({ name }) => name)).toEqual(["Every policy intervention has a record"]);
	const twice = planAndAudit([decision, note, { ...note, seq: 3 }]).checks.filter(({ ok }) => !ok);
	expect(twice.map(({ name }) => name)).toEqual(["Each record is unique"]);
});

test("entries that are cut, of unknown kinds, or with arbitrary content are shown without an error", () => {
	const kinds = [
		"input",
		"assistant",
		"tool.started",
		"tool.settled",
		"note",
		"decision",
		"tools.pending",
		"waiting",
		"run.ended",
		"run.started",
		"run.resumed",
		"run.parked",
		"tools.requested",
		"history.cut",
		"message.added",
		"message.updated",
		"message.deleted",
		"wait.ended",
		"folded",
		"new.kind",
	];
	const message = fc.record({
		content: fc.array(fc.record({ type: fc.constantFrom("text", "image", "reasoning"), text: fc.string() })),
	});
	const entry = fc.record({
		kind: fc.constantFrom(...kinds),
		at: fc.nat(),
		runId: fc.constantFrom("a", "b"),
		body: fc.record({
			message,
			value: fc.dictionary(fc.string(), fc.jsonValue()),
			calls: fc.constant([]),
			answer: fc.jsonValue(),
			state: fc.jsonValue(),
			result: fc.jsonValue(),
		}),
	});
	fc.assert(
		fc.property(fc.array(entry, { maxLength: 40 }), (given) => {
			const entries = given.map((each, index) => ({ ...each, seq: index + 1 }));
			conversationOf(entries);
			const { spans, last } = timelineOf(entries);
			for (const span of spans) placeOf(span, last);
			planAndAudit(entries);
			bucketsOf(entries);
			turnsOf(entries);
		}),
	);
});

test("an answer that was cut off at the token limit is marked", async () => {
	const { said } = conversationOf(await entriesOf(["Hello", "a long one"]));
	expect(said.filter(({ who }) => who === "assistant").map(({ stopped }) => stopped)).toEqual([
		undefined,
		"cut off at the token limit",
	]);
});

test("an answer that a middleware replaced is marked, and the new one follows", () => {
	const said = (seq: number, id: string, metadata?: object) => ({
		seq,
		at: 0,
		runId: "r",
		kind: "assistant",
		body: {
			message: {
				type: "assistant",
				id,
				content: [{ type: "text", text: id }],
				...(metadata && { metadata }),
			},
		},
	});
	const entries = [said(1, "first"), said(2, "second", { upp: { replaces: "first" } })];
	const { said: shown } = conversationOf(entries as unknown as ShownEntry[]);
	expect(shown.map(({ text, stopped }) => [text, stopped])).toEqual([
		["first", "replaced below"],
		["second", undefined],
	]);
});

test("the list of models names provider, capabilities and fallbacks, and providers that do not respond", () => {
	const capabilities = { supportsImages: true, supportsToolCalls: false, maxContextTokens: 8_000 };
	expect(
		modelRows([
			{ name: "main", model: "gpt-5.2", provider: "openai", fallbacks: ["quick"], capabilities },
			{ name: "quick", failed: true },
			{ name: "named" },
		]),
	).toEqual([
		["main", "gpt-5.2", "openai", "images, max context tokens 8000", "quick"],
		["quick", "", "its provider does not respond", "", ""],
		["named", "", "", "", ""],
	]);
});

test("the timeline shows the cached share of an answer's input, and what broke the cache", () => {
	const timeline = new Timeline();
	const answer = (seq: number, more: object): ShownEntry => ({
		seq,
		at: seq,
		kind: "assistant",
		runId: "r",
		body: {
			modelId: "m",
			step: 1,
			tag: "act",
			duration: 1,
			message: { content: [{ type: "text", text: "Yes." }] },
			...more,
		},
	});
	timeline.add(answer(1, { usage: { inputTokens: 100, outputTokens: 1 } }));
	timeline.add(answer(2, { usage: { inputTokens: 200, outputTokens: 1, cacheReadTokens: 99 } }));
	timeline.add(
		answer(3, {
			usage: { inputTokens: 300, outputTokens: 1 },
			cacheBreak: { reasons: ["tools", "instructions"], from: 0 },
		}),
	);
	expect(timeline.spans.map(({ detail }) => detail)).toEqual([
		"Yes.",
		"Yes. · 50 % cached",
		"Yes. · cache broken by tools, instructions",
	]);
});
