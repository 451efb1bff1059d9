// The values of sessions in the journal's file: a table next to the entries. They are deleted with their session.
import { encodeValue } from "@holdfast/upp";
import type { SessionValues, ValueStore } from "../host/index.ts";
import { decoded } from "./read-entries.ts";
import { ensureSession } from "./session-writes.ts";
import type { Statements } from "./statements.ts";
import { fromStored, toStored } from "./stored-text.ts";

/** The journal parts that values need. */
export interface ValuesParts {
	readonly statements: Statements;
	/** Runs within a transaction and resolves when it is committed. */
	commit<T>(apply: () => T): Promise<T>;
	reading<T>(read: () => T): T | Promise<T>;
	now(): number;
}

/** Returns the values of all sessions of a journal. */
export function sqliteValues(parts: ValuesParts): ValueStore {
	const { statements, commit } = parts;
	return {
		goWithSession: true,
		comeWithAppend: true,
		values: (sessionKey, owner) => valuesOf(parts, toStored(sessionKey), toStored(owner)),
		deleteSession(sessionKey) {
			return commit(() => {
				const session = idOf(statements, toStored(sessionKey));
				if (session !== undefined) statements.deleteValues.run(session);
			});
		},
	};
}

function valuesOf(parts: ValuesParts, key: string, owner: string): SessionValues {
	const { statements, commit, reading, now } = parts;
	return {
		get(name) {
			return reading(() => {
				const row = statements.readValue.get(key, owner, toStored(name)) as { value: string } | undefined;
				return row === undefined ? undefined : decoded(row.value, "a value of a session");
			});
		},
		async set(name, value) {
			const text = encodedValue(value);
			await commit(() => {
				const at = now();
				const place = [owner, toStored(name)] as const;
				const session = ensureSession(statements, key, at);
				statements.setValue.run(session, ...place, text, statements.sumOf(place, text));
			});
		},
		async setIfExists(name, value) {
			const text = encodedValue(value);
			return commit(() => {
				const session = idOf(statements, key);
				if (session === undefined) return false;
				const place = [owner, toStored(name)] as const;
				statements.setValue.run(session, ...place, text, statements.sumOf(place, text));
				return true;
			});
		},
		delete(name) {
			return commit(() => {
				const session = idOf(statements, key);
				return (
					session !== undefined && statements.deleteValue.run(session, owner, toStored(name)).changes > 0
				);
			});
		},
		list() {
			return reading(() => {
				const rows = statements.listValues.all(key, owner) as { name: string; value: string }[];
				return rows
					.map(({ name, value }) => ({
						name: fromStored(name),
						// Decoded on access, so that damaged values can still be listed.
						get value() {
							return decoded(value, "a value of a session");
						},
					}))
					.sort((one, other) => (one.name < other.name ? -1 : 1));
			});
		},
	};
}

/** Encodes a value for storage. */
export function encodedValue(value: unknown): string {
	return JSON.stringify(encodeValue(value));
}

function idOf(statements: Statements, key: string): number | undefined {
	return (statements.sessionId.get(key) as { id: number } | undefined)?.id;
}
