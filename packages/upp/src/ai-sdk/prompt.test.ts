import fc from "fast-check";
import { expect, test } from "vitest";
import { AssistantMessage, type Message, ToolResultMessage, UserMessage } from "../messages/index.ts";
import { CallOrder } from "./call-order.ts";
import { type Dialect, dialectOf } from "./dialect.ts";
import type { PromptMessage } from "./language-model-types.ts";
import { toPrompt } from "./prompt.ts";
import { promptMessage } from "./prompt-message.ts";

const [v3, v4] = (["v3", "v4"] as const).map((specificationVersion) =>
	dialectOf({ specificationVersion, provider: "test" } as Parameters<typeof dialectOf>[0]),
) as [Dialect, Dialect];

/** A conversation of steps: a question, an answer that calls a tool, its result. Some answers are empty. */
function steps(count: number): Message[] {
	return Array.from({ length: count }, (_, at): Message[] => [
		new UserMessage(`Question ${at}?`),
		new AssistantMessage([]),
		new AssistantMessage(`Answer ${at}.`, [
			{ toolCallId: `c${at}`, toolName: `tool${at}`, arguments: { at } },
		]),
		new ToolResultMessage([{ toolCallId: `c${at}`, result: at }]),
	]).flat();
}

/** The prompt of messages that were never converted before. */
function fresh(messages: readonly Message[]): unknown[] {
	const order = new CallOrder(v4.turns);
	const prompt: PromptMessage[] = [];
	for (const index of messages.keys()) order.add(promptMessage(messages, index, v4), prompt);
	order.end(prompt);
	return prompt;
}

test("an empty answer is not sent to a provider", () => {
	const messages = [new UserMessage("One?"), new AssistantMessage([]), new UserMessage("Two?")];
	expect(toPrompt(messages, undefined, v3).map(({ role }) => role)).toEqual(["user", "user"]);
});

test("the prompt matches the given messages, regardless of earlier requests with them", () => {
	const pool = steps(6);
	// A window that starts with a question: a start, an end, and a message put in place of another one.
	const window = fc.record({ start: fc.nat(5), length: fc.nat(24), swapped: fc.option(fc.nat(23)) });
	fc.assert(
		fc.property(fc.array(window, { minLength: 1, maxLength: 12 }), (windows) => {
			const others = new Map(
				pool.map((message, at) => [at, message.type === "user" ? new UserMessage("Other?") : message]),
			);
			for (const { start, length, swapped } of windows) {
				const messages = pool.slice(start * 4, start * 4 + length);
				if (swapped !== null && swapped < messages.length) {
					messages[swapped] = others.get(start * 4 + swapped) as Message;
				}
				expect(toPrompt(messages, undefined, v4)).toEqual(fresh(messages));
			}
		}),
		{ numRuns: 300 },
	);
});

test("a growing conversation is converted message by message, even if its caller changes it in place", () => {
	const messages: Message[] = [];
	let before: readonly unknown[] = [];
	for (const message of steps(5)) {
		messages.push(message);
		const prompt = toPrompt(messages, undefined, v4);
		expect(prompt).toEqual(fresh(messages));
		// From the third call on: the first two may be those of a window that moves.
		if (messages.length > 2)
			for (const [at, converted] of before.entries()) expect(prompt[at]).toBe(converted);
		// A call at the end has no result yet.
		before = message.type === "assistant" ? before : prompt;
	}
	messages[4] = new UserMessage("Another question?");
	expect(toPrompt(messages, undefined, v4)).toEqual(fresh(messages));
});

test("the prompt belongs to the caller: a provider's changes to the array are not seen again", () => {
	const messages = steps(2);
	for (let call = 0; call < 4; call++) {
		const prompt = toPrompt(messages, "Be brief.", v4);
		expect(prompt).toEqual([{ role: "system", content: "Be brief." }, ...fresh(messages)]);
		prompt.length = 1;
	}
});

test("a window that moves along a history converts each of its messages at most twice", () => {
	const history = steps(30);
	const seen = new Set<unknown>();
	for (let start = 0; start + 20 <= history.length; start += 4) {
		for (const converted of toPrompt(history.slice(start, start + 20), undefined, v4)) seen.add(converted);
	}
	expect(seen.size).toBeLessThanOrEqual(2 * history.length);
});

test.each([
	["google.generative-ai", ["file"]],
	["google.vertex.chat", ["file"]],
	["vertex.anthropic.messages", ["file", "text"]],
	["anthropic.messages", ["file", "text"]],
	["openai.chat", ["file", "text"]],
])(
	"an answer with only a file has other content for %s if its models do not get the file",
	(provider, types) => {
		const dialect = dialectOf({ specificationVersion: "v3", provider } as Parameters<typeof dialectOf>[0]);
		const image = { type: "image", source: { type: "base64", data: "AAAA" }, mimeType: "image/png" } as const;
		const { content } = promptMessage([new AssistantMessage([image])], 0, dialect);
		expect((content as { type: string }[]).map(({ type }) => type)).toEqual(types);
	},
);
