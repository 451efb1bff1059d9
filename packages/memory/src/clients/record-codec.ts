// Converts values to records and back: validates them, encrypts them if there are keys, and adds their search data.
import type { KeyRing } from "../encryption/index.ts";
import { decryptFailed, isSealed } from "../encryption/index.ts";
import { bytesOf, type Embedder, textOf, vectorFrom, wordsOf } from "../search/index.ts";
import { damaged, type Kind, type NewRecord, type StoredRecord } from "../storage/index.ts";

/** The location of a record, which its encryption is bound to. */
export type RecordPlace = Pick<StoredRecord, "kind" | "space" | "name">;

export class RecordCodec {
	readonly keyRing: KeyRing | undefined;
	readonly #embedder: Embedder | undefined;

	constructor(keyRing: KeyRing | undefined, embedder: Embedder | undefined) {
		this.keyRing = keyRing;
		this.#embedder = embedder;
	}

	/** Creates a record from JSON. */
	async encode(place: RecordPlace, json: string, at: number): Promise<NewRecord> {
		const text = textOf(JSON.parse(json));
		const vector = await this.#embedder?.vectorOf(text);
		return {
			space: place.space,
			name: place.name,
			at,
			body: this.#sealed(json, place, "body"),
			vector: vector === undefined ? null : this.#sealedBytes(bytesOf(vector), place),
			words: this.keyRing === undefined ? wordsOf(text) : undefined,
		};
	}

	/** @throws HoldfastError `DECRYPT_FAILED`, `RECORD_DAMAGED`. */
	valueOf(record: StoredRecord): unknown {
		const body = this.#opened(record.body, record, "body");
		return undamaged(record, "body", () => JSON.parse(body));
	}

	/** Returns the words of a record. @throws HoldfastError `DECRYPT_FAILED`, `RECORD_DAMAGED`. */
	wordsOf(record: StoredRecord): readonly string[] {
		const value = this.valueOf(record);
		return undamaged(record, "body", () => wordsOf(textOf(value)));
	}

	/** @throws HoldfastError `DECRYPT_FAILED`. */
	vectorOf(record: StoredRecord): Float32Array | undefined {
		const { vector } = record;
		if (vector === null) return undefined;
		const text = this.keyRing === undefined ? undefined : Buffer.from(vector).toString("latin1");
		if (text === undefined || !isSealed(text)) {
			// Plain vectors are read only if plain bodies are.
			if (text !== undefined && this.keyRing?.acceptsPlain !== true)
				throw decryptFailed("its vector is not encrypted", boundTo(record, "vector"));
			return vectorFrom(vector);
		}
		return vectorFrom(Buffer.from(this.#opened(text, record, "vector"), "base64"));
	}

	/** Returns the record encrypted with the current key; undefined if it already is. */
	renewed(record: StoredRecord): StoredRecord | undefined {
		if (this.keyRing?.isCurrent(record.body) !== false) return undefined;
		const body = this.#sealed(this.#opened(record.body, record, "body"), record, "body");
		const vector = this.vectorOf(record);
		return {
			...record,
			body,
			vector: vector === undefined ? null : this.#sealedBytes(bytesOf(vector), record),
		};
	}

	#sealed(text: string, place: RecordPlace, part: "body" | "vector"): string {
		return this.keyRing === undefined ? text : this.keyRing.seal(text, boundTo(place, part));
	}

	#sealedBytes(bytes: Uint8Array, place: RecordPlace): Uint8Array {
		if (this.keyRing === undefined) return bytes;
		return Buffer.from(this.#sealed(Buffer.from(bytes).toString("base64"), place, "vector"), "latin1");
	}

	#opened(text: string, place: RecordPlace, part: "body" | "vector"): string {
		if (this.keyRing !== undefined) return this.keyRing.open(text, boundTo(place, part));
		if (isSealed(text)) throw decryptFailed("it is encrypted", boundTo(place, part));
		return text;
	}
}

function undamaged<Result>(place: RecordPlace, part: "body", read: () => Result): Result {
	try {
		return read();
	} catch (cause) {
		throw damaged(boundTo(place, part), cause);
	}
}

const named: Readonly<Record<Kind, string>> = { entry: "stream", value: "collection" };

function boundTo({ kind, space, name }: RecordPlace, part: "body" | "vector"): string {
	return JSON.stringify([named[kind], space, name, part]);
}
