import { AssistantMessage, ToolResultMessage, UserMessage, wellFormed } from "@holdfast/upp";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Fact } from "../facts/index.ts";
import { wellFormedFacts } from "./well-formed-facts.ts";

const text = fc.oneof(
	{ weight: 9, arbitrary: fc.constantFrom("", "plain", "é", "😀") },
	{ weight: 1, arbitrary: fc.constantFrom("\ud83d", "a \ude00 b") },
);
const data = fc.oneof(text, fc.nat(), fc.dictionary(text, text, { maxKeys: 2 }), fc.array(text));
const identity = fc.record({ id: text, metadata: fc.constantFrom(undefined, { a: { b: "\ud83d" } }, {}) });
const call = fc.record({ toolCallId: text, toolName: text, arguments: fc.dictionary(text, data) });
const blocks = fc.array(fc.record({ type: fc.constant("text" as const), text }), { maxLength: 2 });
const said = fc
	.tuple(blocks, fc.option(fc.array(call, { maxLength: 2 }), { nil: undefined }), identity)
	.map((made) => new AssistantMessage(...(made as ConstructorParameters<typeof AssistantMessage>)));
const input = fc.oneof(
	said,
	fc.tuple(blocks, identity).map(([content, about]) => new UserMessage(content, about as never)),
	fc
		.tuple(fc.array(fc.record({ toolCallId: text, result: data }), { maxLength: 2 }), identity)
		.map(([results, about]) => new ToolResultMessage(results, about as never)),
);
const usage = fc.record({ inputTokens: fc.nat(), raw: data });
const error = fc.record({ code: text, message: text });
const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
	fc.option(arbitrary, { nil: undefined });

const fact = fc.oneof(
	fc.record({
		kind: fc.constant("run.started"),
		agentName: optional(text),
		caller: optional(data),
		parent: optional(data),
	}),
	fc.record({ kind: fc.constant("input"), inputId: text, message: input }),
	fc.record({
		kind: fc.constant("assistant"),
		message: said,
		usage,
		modelId: text,
		data: optional(data),
	}),
	fc.record({ kind: fc.constant("tool.started"), callId: text, name: text, input: optional(data) }),
	fc.record({
		kind: fc.constant("tool.settled"),
		callId: text,
		result: data,
		details: optional(data),
		stack: optional(text),
	}),
	fc.record({ kind: fc.constant("run.ended"), error: optional(error), partial: optional(said) }),
	fc.record({ kind: fc.constant("note"), topic: text, value: data }),
	fc.record({ kind: fc.constant("decision"), topic: text, answer: data }),
) as unknown as fc.Arbitrary<Fact>;

test("facts become well-formed in every member that holds external text, and well-formed facts are unchanged", () => {
	fc.assert(
		fc.property(fc.array(fact, { maxLength: 3 }), (facts) => {
			const expected = wellFormed(facts);
			const found = wellFormedFacts(facts);
			expect(found).toEqual(expected);
			if (expected === facts) expect(found).toBe(facts);
		}),
		{ numRuns: 500 },
	);
});
