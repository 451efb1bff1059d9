// Maintenance of a storage: deletes expired data, and re-encrypts values.
import { keyRequired } from "../encryption/index.ts";
import type { Kind } from "../storage/index.ts";
import type { Parts } from "./parts.ts";

const kinds: readonly Kind[] = ["entry", "value"];

/** Deletes expired entries; returns their number. */
export async function purge({ opening, retained }: Parts): Promise<number> {
	const storage = await opening.open();
	let removed = 0;
	for (const space of await storage.spaces("entry")) {
		const { since, fromSeq } = await retained.of(space);
		removed += await storage.remove(space, { before: since, belowSeq: fromSeq });
	}
	await storage.compact();
	return removed;
}

/** Encrypts all other records with the current key; returns their number. */
export async function reencrypt({ opening, codec }: Parts): Promise<number> {
	if (codec.keyRing === undefined) throw keyRequired("`reencrypt()`");
	const storage = await opening.open();
	let renewed = 0;
	for (const kind of kinds)
		for (const space of await storage.spaces(kind))
			for await (const page of storage.pages(kind, space))
				for (const record of page) {
					const next = codec.renewed(record);
					if (next === undefined) continue;
					await storage.rewrite(next);
					renewed++;
				}
	await storage.compact();
	return renewed;
}
