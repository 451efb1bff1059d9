import fc from "fast-check";
import { expect, test } from "vitest";
import { loadSqlite } from "./load-sqlite.ts";
import { fromStored, toStored } from "./stored-text.ts";

// Any UTF-16 code units, lone surrogates among them.
const text = fc
	.array(fc.oneof(fc.constantFrom(0, 10, 34, 92, 0xd83d, 0xde00), fc.nat(0xffff)))
	.map((units) => String.fromCharCode(...units));

test("any text is read back from SQLite unchanged, and no two are merged", () => {
	const database = new (loadSqlite().DatabaseSync)(":memory:");
	const echo = database.prepare("SELECT ? AS stored");
	fc.assert(
		fc.property(text, text, (one, other) => {
			const { stored } = echo.get(toStored(one)) as { stored: string };
			expect(fromStored(stored)).toBe(one);
			expect(toStored(one) === toStored(other)).toBe(one === other);
		}),
	);
	database.close();
});
