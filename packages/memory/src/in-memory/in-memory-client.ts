// Memory that lives as long as the process.
import type { MemoryClient } from "../contract/index.ts";

/** A memory client for tests and short runs: nothing outlives the object. */
export function inMemoryClient(): MemoryClient {
	const streams = new Map<string, { entries: string[]; ids: Set<string> }>();
	return {
		async append(streamKey, entry, options) {
			const text = JSON.stringify(entry);
			const stream = streams.get(streamKey) ?? { entries: [], ids: new Set() };
			streams.set(streamKey, stream);
			if (options?.id !== undefined) {
				if (stream.ids.has(options.id)) return;
				stream.ids.add(options.id);
			}
			stream.entries.push(text);
		},
		async read(streamKey, options = {}) {
			const { limit, offset = 0, order = "asc" } = options;
			const all = streams.get(streamKey)?.entries ?? [];
			const ordered = order === "asc" ? all : all.toReversed();
			const until = limit === undefined ? undefined : offset + limit;
			return ordered.slice(offset, until).map((text) => JSON.parse(text));
		},
		async clear(streamKey) {
			streams.delete(streamKey);
		},
	};
}
