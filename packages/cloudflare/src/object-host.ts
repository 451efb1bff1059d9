// The host in a Durable Object: the ports of holdfast/sql over the object's own storage. An object is a single writer:
// the platform never runs two objects with the same name at once.
import { checkOptions, optionNames } from "@holdfast/upp";
import { makeInstance, type SqlHost, type SqlHostOptions, sqlHost } from "holdfast/sql";
import { objectConnection } from "./object-connection.ts";
import type { ObjectStorage } from "./platform.ts";

const objectHostNames = optionNames<ObjectHostOptions>({
	instance: "object",
	clock: "object",
	files: "object",
	workerId: "text",
});

/** Options of `objectHost`. */
export type ObjectHostOptions = Omit<SqlHostOptions, "connection" | "name">;

/**
 * Creates a host in the storage of a Durable Object with SQLite: all ports of a host, for the sessions of this object and
 * of their sub-agents.
 * @throws HoldfastError `journal_newer` if a newer release has written the storage, which is left unchanged.
 */
export function objectHost(storage: ObjectStorage, options: ObjectHostOptions = {}): SqlHost {
	checkOptions(options, objectHostNames, { of: "objectHost()" });
	const { instance = makeInstance(), ...rest } = options;
	return sqlHost({ ...rest, instance, name: "durable object", connection: objectConnection(storage) });
}
