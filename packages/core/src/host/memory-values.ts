// In-memory values that are deleted with their sessions.
import { ensureSession, type Store } from "./memory-store.ts";
import { memoryValues, type ValueStore } from "./values.ts";

/** Returns the values stored with the sessions of a store. Writing one creates the session if needed. */
export function valuesBeside(store: Store): ValueStore {
	const kept = memoryValues();
	store.deleted.push((key) => void kept.deleteSession(key));
	return {
		goWithSession: true,
		deleteSession: kept.deleteSession,
		values(key, owner) {
			const own = kept.values(key, owner);
			return {
				...own,
				set(name, value) {
					void own.set(name, value); // first, because it may refuse the value
					ensureSession(store, key);
				},
				setIfExists(name, value) {
					const exists = store.sessions.has(key);
					if (exists) void own.set(name, value);
					return exists;
				},
			};
		},
	};
}
