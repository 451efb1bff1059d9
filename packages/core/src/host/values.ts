// Small values stored with a session: a port with four methods, and its in-memory implementation. Deleting a session
// deletes its values.
import { decodeValue, encodeValue, type JSONValue } from "@holdfast/upp";
import type { MaybePromise } from "./journal.ts";

/** A value with its name. */
export interface NamedValue {
	/** Unique among the values of its session and owner. */
	readonly name: string;
	/** A copy of the value. */
	readonly value: unknown;
}

/** The named values of one session. Values are plain data, and each `get` returns a copy. */
export interface SessionValues {
	/** Returns a value; undefined if it does not exist. */
	get(name: string): MaybePromise<unknown>;
	/**
	 * Resolves once the value is stored as durably as the session itself. If values belong to their session, this creates
	 * the session if it is new or was deleted.
	 */
	set(name: string, value: unknown): MaybePromise<void>;
	/**
	 * Does the same only if the session exists, so that late work cannot create a deleted session again. Returns whether
	 * it did. Optional: without it, late work uses `set`.
	 */
	setIfExists?(name: string, value: unknown): MaybePromise<boolean>;
	/** Deletes a value. Returns whether it existed. */
	delete(name: string): MaybePromise<boolean>;
	/** Returns all values, in the order of their names. */
	list(): MaybePromise<readonly NamedValue[]>;
}

/** Stores the values of all sessions. */
export interface ValueStore {
	/** Returns the values of a session that belong to one owner, such as a plugin. Costs nothing until it is used. */
	values(sessionKey: string, owner: string): SessionValues;
	/**
	 * Whether values are removed with their session, in one transaction. In that case, don't remove them separately: a
	 * session recreated since then keeps its own.
	 */
	readonly goWithSession?: true;
	/** Whether the journal of their host stores `Append.values`, in the transaction of the append. */
	readonly comeWithAppend?: true;
	/** Deletes all values of a session, of all owners. */
	deleteSession(sessionKey: string): MaybePromise<void>;
}

/** Stores a value if its session exists, as far as the store can tell. Returns whether it did. */
export async function setIfExists(values: SessionValues, name: string, value: unknown): Promise<boolean> {
	if (values.setIfExists !== undefined) return values.setIfExists(name, value);
	await values.set(name, value);
	return true;
}

/** Creates values that live as long as this object. */
export function memoryValues(): ValueStore {
	/** Values as text by session, owner and name. */
	const sessions = new Map<string, Map<string, Map<string, string>>>();
	return {
		values(sessionKey, owner) {
			const kept = (): Map<string, string> | undefined => sessions.get(sessionKey)?.get(owner);
			return {
				get(name) {
					const value = kept()?.get(name);
					return value === undefined ? undefined : decoded(value);
				},
				set(name, value) {
					const owners = sessions.get(sessionKey) ?? new Map<string, Map<string, string>>();
					const values = owners.get(owner) ?? new Map<string, string>();
					sessions.set(sessionKey, owners.set(owner, values.set(name, encoded(value))));
				},
				delete: (name) => kept()?.delete(name) ?? false,
				list: () =>
					[...(kept() ?? [])]
						.sort(([one], [other]) => (one < other ? -1 : 1))
						.map(([name, value]) => ({ name, value: decoded(value) })),
			};
		},
		deleteSession(sessionKey) {
			sessions.delete(sessionKey);
		},
	};
}

function encoded(value: unknown): string {
	return JSON.stringify(encodeValue(value));
}

function decoded(text: string): unknown {
	return decodeValue(JSON.parse(text) as JSONValue);
}
