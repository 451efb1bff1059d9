import { expect, test } from "vitest";
import { uuid } from "./uuid.ts";

test("ids are version 4 UUIDs and never repeat", () => {
	const ids = Array.from({ length: 20_000 }, uuid);
	expect(new Set(ids).size).toBe(ids.length);
	for (const id of ids)
		expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("every random digit takes every value", () => {
	const ids = Array.from({ length: 5_000 }, uuid);
	for (let at = 0; at < 36; at++) {
		const seen = new Set(ids.map((id) => id[at])).size;
		expect(seen).toBe([8, 13, 14, 18, 23].includes(at) ? 1 : at === 19 ? 4 : 16);
	}
});
