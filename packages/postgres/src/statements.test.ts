import fc from "fast-check";
import { expect, test } from "vitest";
import { endOfPrefix } from "./statements.ts";

const bytes = (text: string): Buffer => Buffer.from(text);

test("a text is before the end of a prefix exactly if it starts with it or sorts before it", () => {
	const character = fc.constantFrom("a", "b", "\u{d7ff}", "\u{e000}", "\u{10ffff}", "😀", "\u{ffff}");
	const text = fc.array(character, { maxLength: 4 }).map((parts) => parts.join(""));
	fc.assert(
		fc.property(text, text, (prefix, key) => {
			const end = endOfPrefix(prefix);
			const isBefore = end === undefined || bytes(key).compare(bytes(end)) < 0;
			expect(isBefore).toBe(
				end === undefined || key.startsWith(prefix) || bytes(key).compare(bytes(prefix)) < 0,
			);
		}),
	);
});
