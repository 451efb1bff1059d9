// Parts shared by the clients over one storage.
import type { Access } from "../access/index.ts";
import type { Embedder } from "../search/index.ts";
import type { Storage } from "../storage/index.ts";
import type { Opening } from "./opening.ts";
import type { RecordCodec } from "./record-codec.ts";
import type { Retained } from "./retained.ts";

/** The parts that the two clients share. */
export interface Parts {
	readonly storage: Storage;
	readonly opening: Opening;
	readonly access: Access;
	readonly codec: RecordCodec;
	readonly embedder: Embedder | undefined;
	readonly retained: Retained;
	readonly maxEntryBytes: number;
	now(): number;
}
