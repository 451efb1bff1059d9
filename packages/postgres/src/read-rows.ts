// Converts rows to entries, inputs, values and heads.
import { decodeValue, type JSONValue } from "@holdfast/upp";
import {
	decodeFact,
	type Entry,
	fromStored,
	type Input,
	journalCorrupt,
	type SessionHead,
	type StoredInput,
} from "holdfast/host";

/** An entry's row as a list. */
export type EntryRow = readonly [
	seq: number,
	at: number,
	runId: string,
	kind: string,
	version: number,
	body: string,
];

/** An input's row. */
export interface InputRow {
	readonly position: number;
	readonly id: string;
	readonly kind: string;
	readonly run_id: string | null;
	readonly dedupe_key: string | null;
	readonly worker: string | null;
	readonly at: number;
	readonly body: string;
}

/** A session's row joined with its owner's row. */
export interface SessionView {
	readonly id: number;
	readonly key: string;
	readonly incarnation: string;
	readonly epoch: number;
	readonly open_run: string | null;
	readonly seq: number;
	readonly last_kind: string | null;
	readonly waiting: number;
	readonly created_at: number;
	readonly updated_at: number;
	/** Null if its owner left or it had none. */
	readonly owner_name: string | null;
	readonly owner_alive: boolean | null;
}

export function toEntry([seq, at, runId, kind, version, body]: EntryRow): Entry {
	return { seq, at, runId: fromStored(runId), fact: decodeFact(kind, version, body) };
}

export function toInput(row: InputRow): StoredInput {
	return {
		id: fromStored(row.id),
		kind: row.kind as Input["kind"],
		...(row.run_id === null ? {} : { runId: fromStored(row.run_id) }),
		...(row.dedupe_key === null ? {} : { dedupeKey: fromStored(row.dedupe_key) }),
		...(row.worker === null ? {} : { workerId: fromStored(row.worker) }),
		// Decoded on access: damaged rows can still be listed and removed.
		get body() {
			return parsed(row.body, `the input ${row.position} of a session`);
		},
		order: row.position,
		at: row.at,
	};
}

/** @throws HoldfastError `journal_corrupt` if it is not JSON. */
export function parsed(body: string, what: string): unknown {
	try {
		return JSON.parse(body) as unknown;
	} catch (cause) {
		throw journalCorrupt(`${what} cannot be read`, cause);
	}
}

/** Decodes a stored value. @throws HoldfastError `journal_corrupt` if it is damaged. */
export function decoded(text: string, what: string): unknown {
	try {
		return decodeValue(JSON.parse(text) as JSONValue);
	} catch (cause) {
		throw journalCorrupt(`${what} cannot be read`, cause);
	}
}

/** Converts a session's row to a head. */
export function toHead(view: SessionView): SessionHead {
	const { open_run: open, owner_name: owner, owner_alive: alive } = view;
	return {
		key: fromStored(view.key),
		incarnation: view.incarnation,
		epoch: view.epoch,
		seq: view.seq,
		...(open === null ? {} : { openRunId: fromStored(open) }),
		...(open !== null && view.last_kind === "run.parked" ? { parked: true } : {}),
		...(open === null || owner === null
			? {}
			: { holder: { workerId: fromStored(owner), alive: alive === true } }),
		createdAt: view.created_at,
		updatedAt: view.updated_at,
		waiting: view.waiting,
	};
}
