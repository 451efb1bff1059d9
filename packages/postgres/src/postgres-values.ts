// The values of sessions in Postgres: a table next to the entries, emptied with its session.
import { encodeValue } from "@holdfast/upp";
import type { Host } from "holdfast";
import { fromStored, toStored } from "holdfast/host";
import { digest } from "./digest.ts";
import { decoded } from "./read-rows.ts";
import type { Store } from "./store.ts";

type ValueStore = Host["values"];

/** The values of all sessions of a store. */
export function postgresValues(store: Store): ValueStore {
	return {
		goWithSession: true,
		values: (sessionKey, owner) => valuesOf(store, toStored(sessionKey), toStored(owner)),
		async deleteSession(sessionKey) {
			const h = digest(toStored(sessionKey));
			await store.commits.commit({ sessions: [h], encode: () => ({ o: "delete-value", h }) });
		},
	};
}

function valuesOf(store: Store, key: string, owner: string): ReturnType<ValueStore["values"]> {
	const { database, commits, schema } = store;
	const session = digest(key);
	const found = `SELECT v.name, v.value FROM ${schema}.session_values v
		WHERE v.session = (SELECT id FROM ${schema}.sessions WHERE digest = $1)`;
	const digestOf = (name: string): string => digest(owner, toStored(name));
	const set = async (name: string, value: unknown, only: { readonly found?: true }): Promise<boolean> => {
		const b = JSON.stringify(encodeValue(value));
		const about = { h: session, k: key, nh: digestOf(name), owner, name: toStored(name), b, ...only };
		const [, isMissing] = await commits.commit({
			sessions: [session],
			encode: () => ({ o: "set-value", ...about, at: store.now() }),
		});
		return isMissing !== true;
	};
	return {
		async get(name) {
			await store.ready();
			const [row] = await database.query<{ value: string }>(`${found} AND v.digest = $2`, [
				session,
				digestOf(name),
			]);
			return row === undefined ? undefined : decoded(row.value, "a value of a session");
		},
		set: async (name, value) => void (await set(name, value, {})),
		setIfExists: (name, value) => set(name, value, { found: true }),
		async delete(name) {
			const about = { h: session, nh: digestOf(name) };
			const [, was] = await commits.commit({
				sessions: [session],
				encode: () => ({ o: "delete-value", ...about }),
			});
			return was === true;
		},
		async list() {
			await store.ready();
			const rows = await database.query<{ name: string; value: string }>(`${found} AND v.owner = $2`, [
				session,
				owner,
			]);
			return rows
				.map(({ name, value }) => ({
					name: fromStored(name),
					// Decoded on access, so that damaged values can still be listed.
					get value() {
						return decoded(value, "a value of a session");
					},
				}))
				.sort((one, other) => (one.name < other.name ? -1 : 1));
		},
	};
}
