// The memory that tools and the loop use: writes pass policy, and changes are tracked.

import type { DatabaseClient, MemoryClient } from "@holdfast/memory";
import type { Redactor } from "@holdfast/redaction";
import { HoldfastError } from "@holdfast/upp";
import type { MemoryChange, RunIdentity, SafetyLayer } from "../contract/index.ts";

/** Memory and database of one call, with the changes that the call made. */
export interface WatchedStores {
	readonly memory: MemoryClient;
	readonly database: DatabaseClient | undefined;
	readonly changes: readonly MemoryChange[];
}

/**
 * Creates stores whose writes pass policy. Secrets in keys are masked, for reads as well. `idempotencyKey` is that of the writing
 * call. `memoryOf` is called on first use.
 */
export function watchedStores(
	memoryOf: () => MemoryClient,
	database: DatabaseClient | undefined,
	{ safety, redactor: { maskSecrets } }: { readonly safety: SafetyLayer; readonly redactor: Redactor },
	run: RunIdentity,
	idempotencyKey: string,
): WatchedStores {
	const changes: MemoryChange[] = [];
	let appends = 0;
	const watched: MemoryClient = {
		async append(given, entry, options) {
			const streamKey = maskSecrets(given);
			const admitted = await safety.checkWrite("memory-write", streamKey, entry, run);
			if (admitted === undefined) return;
			// A call that is repeated after a crash writes its entries with the same ids.
			const id = options?.id ?? `${idempotencyKey}:${++appends}`;
			await memoryOf().append(streamKey, admitted.value, maskSecrets({ ...options, id }));
			changes.push({ store: "memory", operation: "append", key: streamKey, value: admitted.value });
		},
		read: (streamKey, options) => memoryOf().read(maskSecrets(streamKey), options),
		search: async (query, options) => {
			const memory = memoryOf();
			if (memory.search === undefined) throw unsupported("search");
			return memory.search(query, options);
		},
		async clear(given, options) {
			const streamKey = maskSecrets(given);
			const memory = memoryOf();
			if (memory.clear === undefined) throw unsupported("clear");
			await memory.clear(streamKey, options);
			changes.push({ store: "memory", operation: "clear", key: streamKey });
		},
	};
	return {
		memory: watched,
		database: watchedDatabase(database, { safety, maskSecrets }, run, changes),
		changes,
	};
}

function watchedDatabase(
	database: DatabaseClient | undefined,
	{ safety, maskSecrets }: { readonly safety: SafetyLayer; readonly maskSecrets: Redactor["maskSecrets"] },
	run: RunIdentity,
	changes: MemoryChange[],
): DatabaseClient | undefined {
	if (database === undefined) return undefined;
	const { search } = database;
	return {
		async write(givenCollection, givenKey, value, options) {
			const [collection, key] = [maskSecrets(givenCollection), maskSecrets(givenKey)];
			const admitted = await safety.checkWrite("database-write", collection, value, run);
			if (admitted === undefined) return;
			await database.write(collection, key, admitted.value, maskSecrets(options));
			changes.push({
				store: "database",
				operation: "write",
				key: `${collection}/${key}`,
				value: admitted.value,
			});
		},
		read: (collection, key, options) => database.read(maskSecrets(collection), maskSecrets(key), options),
		query: (collection, query, options) => database.query(maskSecrets(collection), query, options),
		...(search === undefined ? {} : { search: (text, options) => search.call(database, text, options) }),
	};
}

function unsupported(what: string): HoldfastError {
	const message = `This memory client has no \`${what}\`. Use one that does, such as those of @holdfast/memory.`;
	return new HoldfastError("MEMORY_UNSUPPORTED", message);
}
