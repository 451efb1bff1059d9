// The values of sessions in a bare session store: one state per session under a separate key, replaced by
// compare-and-swap, so that concurrent writers lose nothing.
import { decodeValue, encodeValue, HoldfastError, type JSONValue } from "@holdfast/upp";
import type { SessionStore } from "holdfast/host";
import type { SessionValues, ValueStore } from "holdfast/plugins";
import { headKey } from "../journal/index.ts";

/** Encoded values by owner and name. */
type Stored = Record<string, Record<string, JSONValue>>;

/** A separate key space from the session's own documents. */
const keyOf = (sessionKey: string): string => `${headKey(sessionKey)}#v`;

/** How often a write is retried after another writer was faster. */
const attempts = 100;

/** Creates a store for values kept with the sessions of a store, with the same guarantees. */
export function storedValues(store: SessionStore): ValueStore {
	return {
		values: (sessionKey, owner) => ({
			...valuesOf(store, keyOf(sessionKey), owner),
			async setIfExists(name, value) {
				if (!(await store.load(headKey(sessionKey)))) return false;
				await valuesOf(store, keyOf(sessionKey), owner).set(name, value);
				return true;
			},
		}),
		deleteSession: (sessionKey) => store.delete(keyOf(sessionKey)),
	};
}

function valuesOf(store: SessionStore, key: string, owner: string): SessionValues {
	const read = async (): Promise<Readonly<Record<string, JSONValue>>> => {
		const stored = await store.load(key);
		return own((stored?.state ?? {}) as Stored, owner) ?? {};
	};
	return {
		async get(name) {
			const value = own(await read(), name);
			return value === undefined ? undefined : decodeValue(value);
		},
		async set(name, value) {
			const encoded = encodeValue(value);
			await change(store, key, (values) => ({
				...values,
				[owner]: { ...own(values, owner), [name]: encoded },
			}));
		},
		async delete(name) {
			let found = false;
			await change(store, key, (values) => {
				const { [name]: value, ...others } = own(values, owner) ?? {};
				found = value !== undefined;
				return found ? { ...values, [owner]: others } : undefined;
			});
			return found;
		},
		async list() {
			return Object.entries(await read())
				.sort(([one], [other]) => (one < other ? -1 : 1))
				.map(([name, value]) => ({ name, value: decodeValue(value) }));
		},
	};
}

/** Replaces the state with the result of `next`; undefined leaves it unchanged. */
async function change(
	store: SessionStore,
	key: string,
	next: (values: Stored) => Stored | undefined,
): Promise<void> {
	for (let attempt = 0; attempt < attempts; attempt++) {
		const stored = await store.load(key);
		const state = next((stored?.state ?? {}) as Stored);
		if (state === undefined) return;
		const committed = await store.commit(key, { state }, { expectedVersion: stored?.version ?? null });
		if (committed.ok) return;
	}
	throw new HoldfastError(
		"values_contended",
		"A value could not be written, because other writers kept changing the same session. Try again.",
		{ retryable: true },
	);
}

/** Returns an own member; names such as `__proto__` are ordinary names. */
function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
	return Object.hasOwn(record, name) ? record[name] : undefined;
}
