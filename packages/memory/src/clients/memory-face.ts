// Streams of entries over a storage.
import { HoldfastError } from "@holdfast/upp";
import type { FullMemoryClient } from "../contract/index.ts";
import { demandCount, invalid, rangeOf } from "../query/index.ts";
import { givenName, storedName, writtenValue } from "../values/index.ts";
import { find } from "./find.ts";
import type { Parts } from "./parts.ts";

/** Creates the memory client, except for opening and closing. */
export function memoryFace(parts: Parts): Pick<FullMemoryClient, "append" | "read" | "search" | "clear"> {
	const { access, codec, maxEntryBytes, now, opening, retained } = parts;
	return {
		async append(streamKey, entry, options = {}) {
			const space = storedName(streamKey);
			const name = options.id === undefined ? null : storedName(options.id);
			await access.demand("write", { kind: "stream", name: streamKey }, options);
			const json = writtenValue(entry);
			const bytes = Buffer.byteLength(json);
			if (bytes > maxEntryBytes) throw tooLarge(bytes, maxEntryBytes);
			const record = await codec.encode({ kind: "entry", space, name }, json, now());
			await (await opening.open()).append(record);
		},
		async read(streamKey, options = {}) {
			const space = storedName(streamKey);
			const { order = "asc" } = options;
			const range = rangeOf(options);
			if (order !== "asc" && order !== "desc") throw invalid('`order` must be "asc" or "desc".');
			await access.demand("read", { kind: "stream", name: streamKey }, options);
			const storage = await opening.open();
			const kept = await retained.of(space);
			const records = range.limit === 0 ? [] : await storage.list(space, { order, ...range, ...kept });
			return records.map((record) => codec.valueOf(record));
		},
		async search(text, options = {}) {
			const { streamKey, topK = usualTopK } = options;
			const space = streamKey === undefined ? undefined : storedName(streamKey);
			demandSearch(text, topK);
			if (streamKey !== undefined) await access.demand("read", { kind: "stream", name: streamKey }, options);
			await opening.open();
			const allows = (stored: string): boolean =>
				access.allows("read", { kind: "stream", name: givenName(stored) }, options);
			const found = await find(parts, { kind: "entry", text, topK, space, allows });
			return found.map(({ value, score, record }) => ({ value, score, streamKey: givenName(record.space) }));
		},
		async clear(streamKey, options = {}) {
			const space = storedName(streamKey);
			await access.demand("write", { kind: "stream", name: streamKey }, options);
			await (await opening.open()).remove(space);
		},
	};
}

export const usualTopK = 10;

/** @throws HoldfastError `QUERY_INVALID`. */
export function demandSearch(text: string, topK: number): void {
	if (typeof text !== "string") throw invalid("a search must be a string.");
	demandCount("topK", topK);
}

function tooLarge(bytes: number, limit: number): HoldfastError {
	return new HoldfastError(
		"MEMORY_ENTRY_TOO_LARGE",
		`The entry has ${bytes} bytes as JSON; the limit is ${limit}. Append smaller entries, or raise \`maxEntryBytes\`.`,
		{ data: { bytes, limit } },
	);
}
