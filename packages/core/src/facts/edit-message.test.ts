// Edits of a history keep each call with its result.
import { AssistantMessage, type Message, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { expect, test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import { lines } from "../agent/agent.fixture.ts";
import { AgentState } from "../state/index.ts";
import { editMessage } from "./edit-message.ts";
import { initialSession } from "./session-state.ts";

const call = (toolCallId: string) => ({ toolCallId, toolName: toolCallId, arguments: {} });
const user = (text: string) => new UserMessage(text, { id: text });
const asks = (id: string, calls: readonly string[], text: string | [] = "Let me see.") =>
	new AssistantMessage(text, calls.map(call), { id });
const results = (id: string, calls: readonly string[]) =>
	new ToolResultMessage(
		calls.map((toolCallId) => ({ toolCallId, result: toolCallId })),
		{ id },
	);

const history = [
	user("go"),
	asks("a1", ["a", "b"]),
	results("r1", ["a", "b"]),
	asks("a2", ["a"], []),
	results("r2", ["a"]),
	new AssistantMessage("Done.", undefined, { id: "a3" }),
];

function edit(messageId: string, replacement?: Message, messages: readonly Message[] = history) {
	const state = initialSession(AgentState.initial().withContext(messages));
	return editMessage(state, 1, messageId, replacement).agent.messages;
}

/** Calls and results without their counterpart, in a history in which results follow their calls. */
function alone(messages: readonly Message[]): readonly string[] {
	const open = new Map<string, number>();
	const left: string[] = [];
	for (const message of messages) {
		if (message.type === "assistant")
			for (const { toolCallId } of (message as AssistantMessage).toolCalls ?? [])
				open.set(toolCallId, (open.get(toolCallId) ?? 0) + 1);
		if (message.type === "tool_result")
			for (const { toolCallId } of (message as ToolResultMessage).results) {
				const count = open.get(toolCallId) ?? 0;
				if (count === 0) left.push(`result ${toolCallId}`);
				open.set(toolCallId, count - 1);
			}
	}
	for (const [id, count] of open) if (count > 0) left.push(`call ${id}`);
	return left;
}

test.each([
	["a1", undefined, ["user: go", "assistant:  [a]", "results: a", "assistant: Done."]],
	[
		"r1",
		undefined,
		["user: go", "assistant: Let me see.", "assistant:  [a]", "results: a", "assistant: Done."],
	],
	["a2", undefined, ["user: go", "assistant: Let me see. [a, b]", "results: a, b", "assistant: Done."]],
	["r2", undefined, ["user: go", "assistant: Let me see. [a, b]", "results: a, b", "assistant: Done."]],
	[
		"a1",
		asks("a1", ["b"]),
		[
			"user: go",
			"assistant: Let me see. [b]",
			"results: b",
			"assistant:  [a]",
			"results: a",
			"assistant: Done.",
		],
	],
	[
		"a1",
		new AssistantMessage("No.", undefined, { id: "a1" }),
		["user: go", "assistant: No.", "assistant:  [a]", "results: a", "assistant: Done."],
	],
	[
		"a1",
		asks("a1", ["a", "b", "new"]),
		[
			"user: go",
			"assistant: Let me see. [a, b]",
			"results: a, b",
			"assistant:  [a]",
			"results: a",
			"assistant: Done.",
		],
	],
	[
		"r1",
		results("r1", ["b"]),
		[
			"user: go",
			"assistant: Let me see. [b]",
			"results: b",
			"assistant:  [a]",
			"results: a",
			"assistant: Done.",
		],
	],
	["nobody", undefined, lines(history)],
] as const)("an edit of %s leaves no call without its result (case %#)", (id, replacement, expected) => {
	const messages = edit(id, replacement);
	expect(lines(messages)).toEqual(expected);
	expect(alone(messages)).toEqual([]);
});

test("no edit leaves a call without its result, or a result without its call", () => {
	const rounds = fc.array(fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 }), { maxLength: 5 });
	const edits = fc.array(
		fc.record({
			at: fc.nat(),
			calls: fc.option(fc.uniqueArray(fc.constantFrom("a", "b", "c", "d")), { nil: undefined }),
			text: fc.constantFrom("Text.", [] as []),
		}),
		{ maxLength: 6 },
	);
	fc.assert(
		fc.property(rounds, edits, (calls, changes) => {
			let messages: readonly Message[] = [
				user("go"),
				...calls.flatMap((ids, at) => [asks(`a${at}`, ids), results(`r${at}`, ids)]),
			];
			for (const { at, calls: ids, text } of changes) {
				const target = messages[at % Math.max(1, messages.length)];
				if (target === undefined) continue;
				const { id, type } = target;
				const replacement =
					ids === undefined ? undefined : type === "tool_result" ? results(id, ids) : asks(id, ids, text);
				messages = edit(id, replacement, messages);
				expect(alone(messages)).toEqual([]);
			}
		}),
		{ numRuns: 500 },
	);
});

test("edits of the last message take time in proportion to their number, regardless of the history's length", async () => {
	await expectProportion(8_000, (count) => {
		const messages = Array.from({ length: count }, (_, index) => user(`${index}`));
		const state = initialSession(AgentState.initial().withContext(messages));
		const id = `${count - 1}`;
		return () => {
			let now = state;
			for (let at = 1; at <= count; at++) now = editMessage(now, at, id, new UserMessage(`${at}`, { id }));
			expect(now.agent.messages).toHaveLength(count);
		};
	});
});
