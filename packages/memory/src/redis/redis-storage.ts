// A storage in Redis. Keys of streams and collections are parts of Redis keys; everything else is data.
import {
	damaged,
	failed,
	type Kind,
	type NewRecord,
	type Storage,
	type StoredRecord,
} from "../storage/index.ts";
import type { RedisConnection } from "./redis-connection.ts";
import {
	appendScript,
	clearScript,
	findScript,
	pageScript,
	putScript,
	removeScript,
	rewriteScript,
} from "./scripts.ts";

/** Records read or deleted at a time. */
const pageSize = 500;

/** A row: name, time, body, vector as base64. */
type Row = readonly [name: string | null, at: number, body: string, vector: string | null];

/** The entries of a space to read. */
interface Range {
	readonly order: "asc" | "desc";
	readonly offset: number;
	readonly fromSeq: number;
}

export function redisStorage(connection: RedisConnection, prefix: string): Storage {
	const seqKey = `${prefix}seq`;
	const spacesOf = (kind: Kind): string => `${prefix}spaces:${kind}`;
	const rowsOf = (kind: Kind, space: string): string => `${prefix}rows:${kind}:${space}`;
	const orderOf = (kind: Kind, space: string): string => `${prefix}order:${kind}:${space}`;
	const namesOf = (kind: Kind, space: string): string => `${prefix}names:${kind}:${space}`;
	const run = (
		script: string,
		keys: readonly string[],
		args: readonly (string | number)[],
	): Promise<unknown> => connection.send(["EVAL", script, String(keys.length), ...keys, ...args.map(String)]);
	const write = async (script: string, kind: Kind, record: NewRecord): Promise<void> => {
		const { space, name } = record;
		const keys = [seqKey, spacesOf(kind), rowsOf(kind, space), orderOf(kind, space), namesOf(kind, space)];
		await run(script, keys, [space, rowOf(record), ...(name === null ? [] : [name])]);
	};

	async function* pages(kind: Kind, space: string, range: Range): AsyncGenerator<readonly StoredRecord[]> {
		const command = range.order === "asc" ? "ZRANGEBYSCORE" : "ZREVRANGEBYSCORE";
		const [first, to] =
			range.order === "asc" ? [String(range.fromSeq), "+inf"] : ["+inf", String(range.fromSeq)];
		let from = first;
		for (let { offset } = range; ; offset = 0) {
			const keys = [rowsOf(kind, space), orderOf(kind, space)];
			const flat = listOf(await run(pageScript, keys, [command, from, to, offset, pageSize]));
			const page: StoredRecord[] = [];
			for (let at = 0; at < flat.length; at += 2)
				page.push(recordOf(kind, space, Number(flat[at]), flat[at + 1]));
			if (page.length > 0) yield page;
			if (page.length < pageSize) return;

			from = `(${page.at(-1)?.seq}`;
		}
	}
	return {
		open: () => connection.open(),
		close: () => connection.close(),
		ping: async () => void (await connection.send(["PING"])),
		append: (record) => write(appendScript, "entry", record),
		put: (record) => write(putScript, "value", record),
		async find(space, name) {
			const found = await run(findScript, [rowsOf("value", space), namesOf("value", space)], [name]);
			if (found === null) return undefined;
			const [seq, row] = listOf(found);
			return recordOf("value", space, Number(seq), row);
		},
		async list(space, { order, offset, limit, fromSeq, since }) {
			const found: StoredRecord[] = [];
			// Expired entries are among the others, so they must be read before they can be skipped.
			let toSkip = offset;
			const isCounted = since === Number.MIN_SAFE_INTEGER;
			if (isCounted) toSkip = 0;
			for await (const page of pages("entry", space, { order, fromSeq, offset: isCounted ? offset : 0 }))
				for (const record of page) {
					if (record.at < since || toSkip-- > 0) continue;
					found.push(record);
					if (found.length === limit) return found;
				}
			return found;
		},
		pages: (kind, space) => pages(kind, space, { order: "asc", offset: 0, fromSeq: 0 }),
		spaces: async (kind) => listOf(await connection.send(["SMEMBERS", spacesOf(kind)])).map(String),
		async floor(space, newest) {
			const at = String(newest - 1);
			const [seq] = listOf(await connection.send(["ZREVRANGE", orderOf("entry", space), at, at]));
			return Number(seq ?? 0);
		},
		async remove(space, expired) {
			const places = [rowsOf("entry", space), orderOf("entry", space), namesOf("entry", space)];
			const keys = [spacesOf("entry"), ...places];
			if (expired === undefined) return Number(await run(clearScript, keys, [space]));
			let removed = 0;
			for await (const page of pages("entry", space, { order: "asc", offset: 0, fromSeq: 0 })) {
				const gone = page.filter(({ seq, at }) => seq < expired.belowSeq || at < expired.before);
				const args = gone.flatMap(({ seq, name }) => [seq, name ?? ""]);
				if (gone.length > 0) removed += Number(await run(removeScript, keys, [space, ...args]));
			}
			return removed;
		},
		rewrite: async (record) =>
			void (await run(rewriteScript, [rowsOf(record.kind, record.space)], [record.seq, rowOf(record)])),
		async compact() {},
	};
}

function rowOf({ name, at, body, vector }: Omit<NewRecord, "words">): string {
	const row: Row = [name, at, body, vector === null ? null : Buffer.from(vector).toString("base64")];
	return JSON.stringify(row);
}

/** @throws HoldfastError `RECORD_DAMAGED`. */
function recordOf(kind: Kind, space: string, seq: number, text: unknown): StoredRecord {
	const row = rowFrom(text);
	if (row === undefined) throw damaged(`${JSON.stringify(space)} (${kind} ${seq})`);
	const [name, at, body, vector] = row;
	return { kind, space, seq, name, at, body, vector: vector === null ? null : Buffer.from(vector, "base64") };
}

function rowFrom(text: unknown): Row | undefined {
	try {
		const row: unknown = JSON.parse(text as string);
		return isRow(row) ? row : undefined;
	} catch {
		return undefined;
	}
}

function isRow(row: unknown): row is Row {
	if (!Array.isArray(row)) return false;
	const [name, at, body, vector] = row;
	const isTextOrNull = (part: unknown): boolean => part === null || typeof part === "string";
	return isTextOrNull(name) && Number.isSafeInteger(at) && typeof body === "string" && isTextOrNull(vector);
}

/** Checks a reply that is a list of texts, some of them null. @throws HoldfastError `DB_FAILED`. */
function listOf(reply: unknown): readonly (string | null)[] {
	if (Array.isArray(reply) && reply.every((part) => part === null || typeof part === "string")) return reply;
	throw failed("Redis", new Error("its reply is not a list of strings"));
}
