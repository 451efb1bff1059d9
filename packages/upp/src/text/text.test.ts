import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AssistantMessage, UserMessage } from "../messages/index.ts";
import { cutText, wellFormed } from "./index.ts";

/** Texts of whole characters, many of them outside the basic plane. */
const texts = fc.string({ unit: fc.constantFrom("a", "é", "\u2028", "😀", "𝒳", "🏳️‍🌈"), maxLength: 30 });
/** Texts of any UTF-16 code units. */
const units = fc.string({ unit: fc.constantFrom("a", "\ud83d", "\ude00", "😀"), maxLength: 12 });

test("a cut text is a prefix of the text, within the limit, and never splits a character", () => {
	fc.assert(
		fc.property(texts, fc.integer({ min: 0, max: 70 }), (text, most) => {
			const cut = cutText(text, most);
			expect(text.startsWith(cut)).toBe(true);
			expect(cut.length).toBeLessThanOrEqual(most);
			expect(cut.length).toBeGreaterThanOrEqual(Math.min(text.length, most - 1));
			expect(cut.isWellFormed()).toBe(true);
		}),
	);
});

describe("well-formed data", () => {
	test("is the result for any data: all texts and names are well-formed, everything else stays", () => {
		const data = fc.letrec((tie) => ({
			any: fc.oneof(
				{ depthSize: "small" },
				units,
				fc.integer(),
				fc.constant(null),
				fc.constant(new Uint8Array([1])),
				fc.array(tie("any"), { maxLength: 4 }),
				fc.dictionary(units, tie("any"), { maxKeys: 4 }),
			),
		})).any;
		fc.assert(
			fc.property(data, (value) => {
				const made = wellFormed(value);
				const text = JSON.stringify(made) ?? "";
				expect(/\\ud[89a-f]/i.test(text)).toBe(false);
				expect(wellFormed(made)).toBe(made);
				if (!/\\ud[89a-f]/i.test(JSON.stringify(value) ?? "")) expect(made).toBe(value);
			}),
		);
	});

	test("keeps the class, the id and the time of a message", () => {
		const message = new AssistantMessage("half \ud83d", [
			{ toolCallId: "c", toolName: "page", arguments: { q: "\ude00" } },
		]);
		const made = wellFormed(message);
		expect(made).toBeInstanceOf(AssistantMessage);
		expect(made).toMatchObject({ id: message.id, timestamp: message.timestamp, text: "half \ufffd" });
		expect(made.toolCalls?.[0]?.arguments).toEqual({ q: "\ufffd" });
		const whole = new UserMessage("whole 😀");
		expect(wellFormed(whole)).toBe(whole);
	});

	test("leaves objects of other classes unchanged, and endlessly nested data too", () => {
		const url = new URL("https://example.com");
		expect(wellFormed({ url }).url).toBe(url);
		const circular: { self?: unknown } = {};
		circular.self = circular;
		expect(wellFormed(circular)).toBe(circular);
	});
});
