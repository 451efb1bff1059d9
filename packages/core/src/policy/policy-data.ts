// The values and files of interceptors and plugins: those of sessions in the store of the sessions, those of calls in
// memory until the call ends.
import { HoldfastError } from "@holdfast/upp";
import {
	type FileStore,
	memoryHost,
	memoryValues,
	type SessionKeys,
	type ValueStore,
} from "../host/index.ts";
import { isCallKey, storeKeyIn } from "./policy-run.ts";

/** The files of an agent's plugins. */
export interface PolicyFiles extends FileStore {
	/** Deletes the files of a call that has ended. Files of sessions are deleted by their host. */
	forget(key: string): void;
}

/** Stores values of sessions in the given store, which is first accessed when a value is, and values of calls in memory. */
export function policyValues(ofSessions: () => ValueStore, keys: SessionKeys): ValueStore {
	const ofCalls = memoryValues();
	return {
		values: (key, owner) =>
			isCallKey(key) ? ofCalls.values(key, owner) : ofSessions().values(storeKeyIn(keys, key), owner),
		deleteSession(key) {
			if (isCallKey(key)) return ofCalls.deleteSession(key);
			const values = ofSessions();
			return values.goWithSession === true ? undefined : values.deleteSession(storeKeyIn(keys, key));
		},
	};
}

/** Does the same with files. `ofSessions` returns undefined if the host of the sessions stores no files. */
export function policyFiles(ofSessions: () => FileStore | undefined, keys: SessionKeys): PolicyFiles {
	let made: ReturnType<typeof memoryHost> | undefined;
	return {
		of(key, owner) {
			if (isCallKey(key)) {
				made ??= memoryHost();
				return made.files.of(key, owner);
			}
			const files = ofSessions();
			if (files === undefined) throw filesUnavailable(owner);
			return files.of(storeKeyIn(keys, key), owner);
		},
		forget(key) {
			if (made !== undefined) void made.journal.delete(key);
		},
	};
}

function filesUnavailable(plugin: string): HoldfastError {
	return new HoldfastError(
		"files_unavailable",
		`The plugin "${plugin}" stores files, and the host of the agent's sessions has no port \`files\`. Use memoryHost(), sqliteHost(), postgresHost() or another host with files.`,
		{ data: { plugin } },
	);
}
