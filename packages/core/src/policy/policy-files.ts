// Files of plugins: those of sessions in the host, those of calls in memory until the call ends.
import { HoldfastError } from "@holdfast/upp";
import { type FileStore, memoryHost } from "../host/index.ts";
import { isCallKey } from "./policy-run.ts";

/** The files of an agent's plugins. */
export interface PolicyFiles extends FileStore {
	/** Deletes files in memory of a call or session that has ended. Files in a host are deleted by the host. */
	forget(key: string): void;
}

/**
 * Stores files of sessions in the given store, and files of calls in memory. `memory`: sessions are in memory too, and
 * `none`: they are in a host that stores no files.
 */
export function policyFiles(ofSessions: FileStore | "memory" | "none"): PolicyFiles {
	let made: ReturnType<typeof memoryHost> | undefined;
	const inMemory = (): ReturnType<typeof memoryHost> => {
		made ??= memoryHost();
		return made;
	};
	return {
		of(key, owner) {
			if (isCallKey(key) || ofSessions === "memory") return inMemory().files.of(key, owner);
			if (ofSessions === "none") throw filesUnavailable(owner);
			return ofSessions.of(key, owner);
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
