import * as fc from "fast-check";
import { expect, test } from "vitest";
import { checksumOf, entryChecksums } from "./checksums.ts";
import { nodeChecksum } from "./node-connection.ts";

test("the checksum of an entry covers its columns, for all earlier kinds and versions", () => {
	const sumOf = entryChecksums(nodeChecksum);
	const kind = fc.oneof(fc.constantFrom("assistant", "tool.settled"), fc.string());
	const text = fc.oneof(fc.string(), fc.string({ unit: "binary" }));
	fc.assert(
		fc.property(kind, fc.integer({ min: 1, max: 3 }), text, (name, version, body) => {
			expect(sumOf(name, version, body)).toBe(checksumOf(nodeChecksum, [name, version], body));
		}),
	);
});

test("a connection without checksums writes none for entries", () => {
	expect(entryChecksums({})("assistant", 1, "{}")).toBeNull();
});
