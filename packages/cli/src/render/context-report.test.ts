import { type AnyMessage, AssistantMessage, ToolResultMessage, UserMessage } from "@holdfast/upp";
import type { CachedCall, CacheReport } from "holdfast/host";
import { expect, test } from "vitest";
import { contextOf } from "./context-report.ts";

const long = "word ".repeat(4_000);

function report(calls: readonly Partial<CachedCall>[]): CacheReport {
	const none = { step: 1, inputTokens: 0, cachedTokens: 0, uncachedTokens: 0, writtenTokens: 0 };
	const whole = calls.map((call) => ({ ...none, ...call }));
	const cachedTokens = whole.reduce((sum, call) => sum + call.cachedTokens, 0);
	return { ...none, cachedTokens, cachedShare: 0, calls: whole };
}

const history: readonly AnyMessage[] = [
	new UserMessage("Look."),
	new AssistantMessage("I look.", [{ toolCallId: "c", toolName: "look", arguments: {} }]),
	new ToolResultMessage([{ toolCallId: "c", result: long }]),
	new AssistantMessage("Words."),
];

test("the sections are in the order in which they are sent, and the cached part starts with the first", () => {
	const { sections, tokens } = contextOf(history, report([{ inputTokens: 6_000, cachedTokens: 2_000 }]));
	expect(sections.map(({ name }) => name)).toEqual([
		"instructions and tools",
		"your messages",
		"answers",
		"calls of tools",
		"results of tools",
	]);
	const [head, said] = sections;
	expect(head?.tokens).toBeGreaterThan(800);
	expect(head?.cached).toBe(head?.tokens);
	expect(said?.cached).toBe(said?.tokens);
	expect(sections.reduce((sum, { cached }) => sum + cached, 0)).toBe(2_000);
	expect(tokens).toBeGreaterThan(6_000);
});

test("advice names the largest part and each reason for a break", () => {
	const cacheBreak = { reasons: ["instructions" as const], from: 0 };
	const { advice } = contextOf(
		history,
		report([{ inputTokens: 6_000, cachedTokens: 1 }, { cacheBreak }, { cacheBreak }]),
	);
	expect(advice).toEqual([
		expect.stringContaining("Tool results fill more than half"),
		expect.stringMatching(/^The instructions changed\..*\(2×\)$/),
	]);
});

test("a session without an answer has only the sections of its history", () => {
	const { sections, advice } = contextOf([new UserMessage("Hello.")], report([]));
	expect([sections.map(({ name }) => name), advice]).toEqual([["your messages"], []]);
});

test("a summary takes the place of what it replaces, before and after the next answer", () => {
	const summary = new UserMessage("Summary: words.");
	const before = contextOf(history, report([{ inputTokens: 6_000 }]), [summary]);
	expect(before.sections.map(({ name }) => name)).toEqual(["instructions and tools", "your messages"]);
	expect(before.tokens).toBeLessThan(1_000);
	const more = [new UserMessage("And?"), new AssistantMessage("More words.")];
	const calls = report([{ inputTokens: 6_000 }, { inputTokens: 1_020 }]);
	const after = contextOf([...history, ...more], calls, [summary, ...more]);
	expect(after.tokens).toBeGreaterThan(1_000);
	expect(after.tokens).toBeLessThan(1_100);
});

test("recorded instructions, skills and pinned messages have sections of their own, with advice", () => {
	const call = (id: string, toolName: string) => ({ toolCallId: id, toolName, arguments: {} });
	const { sections, advice } = contextOf(
		[
			new UserMessage("Home by Sunday.", { metadata: { holdfast: { pinned: true } } }),
			new AssistantMessage("", [call("a", "load_skill"), call("b", "look")]),
			new ToolResultMessage([
				{ toolCallId: "a", result: long },
				{ toolCallId: "b", result: "seen" },
			]),
			new AssistantMessage("Done."),
		],
		report([{ inputTokens: 6_000, cachedTokens: 100 }]),
		undefined,
		"Be brief. ".repeat(20),
	);
	expect(sections.map(({ name }) => name)).toEqual([
		"instructions",
		"tools",
		"pinned messages",
		"answers",
		"calls of tools",
		"skills",
		"results of tools",
	]);
	expect(sections[0]).toMatchObject({ tokens: 51, cached: 51 });
	expect(advice).toEqual([expect.stringMatching(/^Skills fill more than half/)]);
});

test("an image counts by a usual number of tokens, not by its bytes", () => {
	const source = { type: "base64", data: "A".repeat(4_000_000) } as const;
	const content = [
		{ type: "text", text: "What is this?" },
		{ type: "image", mimeType: "image/png", source },
	] as const;
	const { sections } = contextOf(
		[new UserMessage([...content]), new AssistantMessage("A lamp.")],
		report([{ inputTokens: 3_000 }]),
	);
	const [head, said] = sections;
	expect([head?.name, said?.name]).toEqual(["instructions and tools", "your messages"]);
	expect(said?.tokens).toBeLessThan(2_000);
	expect((head?.tokens ?? 0) + (said?.tokens ?? 0)).toBe(3_000);
});
