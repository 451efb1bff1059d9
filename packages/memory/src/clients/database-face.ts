// Values by key in collections over a storage.
import type { FullDatabaseClient } from "../contract/index.ts";
import { answered, matcherOf } from "../query/index.ts";
import { givenName, storedName, writtenValue } from "../values/index.ts";
import { find } from "./find.ts";
import { demandSearch, usualTopK } from "./memory-face.ts";
import type { Parts } from "./parts.ts";

/** Creates the database client, except for opening and closing. */
export function databaseFace(parts: Parts): Pick<FullDatabaseClient, "write" | "read" | "query" | "search"> {
	const { access, codec, now, opening } = parts;
	return {
		async write(collection, key, value, options = {}) {
			const place = { kind: "value", space: storedName(collection), name: storedName(key) } as const;
			await access.demand("write", { kind: "collection", name: collection }, options);
			const record = await codec.encode(place, writtenValue(value), now());
			await (await opening.open()).put({ ...record, name: place.name });
		},
		async read(collection, key, options = {}) {
			const [space, name] = [storedName(collection), storedName(key)];
			await access.demand("read", { kind: "collection", name: collection }, options);
			const record = await (await opening.open()).find(space, name);
			return record === undefined ? null : codec.valueOf(record);
		},
		async query(collection, query, options = {}) {
			const space = storedName(collection);
			const matches = matcherOf(query);
			// Validates the options even if the collection is empty.
			answered([], options);
			await access.demand("read", { kind: "collection", name: collection }, options);
			const storage = await opening.open();
			// A value rewritten during the scan may be found twice; the later position counts.
			const found = new Map<string | null, unknown>();
			for await (const page of storage.pages("value", space))
				for (const record of page) {
					const value = codec.valueOf(record);
					found.delete(record.name);
					if (matches(value)) found.set(record.name, value);
				}
			return answered([...found.values()], options);
		},
		async search(text, options = {}) {
			const { collection, topK = usualTopK } = options;
			const space = collection === undefined ? undefined : storedName(collection);
			demandSearch(text, topK);
			if (collection !== undefined)
				await access.demand("read", { kind: "collection", name: collection }, options);
			await opening.open();
			const allows = (stored: string): boolean =>
				access.allows("read", { kind: "collection", name: givenName(stored) }, options);
			const found = await find(parts, { kind: "value", text, topK, space, allows });
			return found.map(({ value, score, record }) => ({
				value,
				score,
				collection: givenName(record.space),
				key: givenName(record.name ?? ""),
			}));
		},
	};
}
