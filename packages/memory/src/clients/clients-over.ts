// Both clients over one storage: their shared parts and entry points.
import { HoldfastError } from "@holdfast/upp";
import { Access } from "../access/index.ts";
import type { Clients, MemoryClientOptions } from "../contract/index.ts";
import type { KeyRing } from "../encryption/index.ts";
import { embedderOf } from "../search/index.ts";
import type { Storage } from "../storage/index.ts";
import { databaseFace } from "./database-face.ts";
import { memoryFace } from "./memory-face.ts";
import { Opening } from "./opening.ts";
import type { Parts } from "./parts.ts";
import { RecordCodec } from "./record-codec.ts";
import { Retained } from "./retained.ts";
import { purge, reencrypt } from "./upkeep.ts";

const usualEntryBytes = 65_536;

/**
 * Creates the clients over a storage.
 * @throws HoldfastError `OPTION_INVALID`.
 */
export function clientsOver(
	storage: Storage,
	options: MemoryClientOptions,
	keyRing: KeyRing | undefined,
): Clients {
	const parts = partsOf(storage, options, keyRing);
	const { opening } = parts;
	const shared = {
		start: async (): Promise<void> => void (await opening.open()),
		health: async (): Promise<void> => (await opening.open()).ping(),
		close: (): Promise<void> => opening.close(),
	};
	return {
		memory: { ...memoryFace(parts), ...shared },
		database: { ...databaseFace(parts), ...shared },
		purge: () => purge(parts),
		reencrypt: () => reencrypt(parts),
		...shared,
	};
}

function partsOf(storage: Storage, options: MemoryClientOptions, keyRing: KeyRing | undefined): Parts {
	const {
		access = [],
		audit,
		embed,
		maxEntryBytes = usualEntryBytes,
		now = Date.now,
		retention = {},
	} = options;
	demandLimit("maxEntryBytes", maxEntryBytes);
	demandLimit("retention.maxAgeMs", retention.maxAgeMs);
	demandLimit("retention.maxEntries", retention.maxEntries);
	const embedder = embed === undefined ? undefined : embedderOf(embed);
	return {
		storage,
		opening: new Opening(storage),
		access: new Access(access, audit, now),
		codec: new RecordCodec(keyRing, embedder),
		embedder,
		retained: new Retained(retention, storage, now),
		maxEntryBytes,
		now: () => Math.floor(now()),
	};
}

function demandLimit(name: string, limit: number | undefined): void {
	if (limit === undefined || (Number.isSafeInteger(limit) && limit >= 0)) return;
	throw new HoldfastError(
		"OPTION_INVALID",
		`\`${name}\` must be an integer of at least 0, not ${String(limit)}.`,
	);
}
