// Clients for tests and short runs: their data is lost when the process ends.
import { checkOptions, optionNames } from "@holdfast/upp";
import { clientsOver } from "../clients/index.ts";
import type { Clients, FullMemoryClient, MemoryClientOptions } from "../contract/index.ts";
import { KeyRing } from "../encryption/index.ts";
import { inMemoryStorage } from "./in-memory-storage.ts";

const clientNames = optionNames<MemoryClientOptions>({
	maxEntryBytes: true,
	retention: "object",
	access: "list",
	audit: "object",
	embed: true,
	encryption: "object",
	now: "function",
});

/**
 * Creates a memory client and a database client in the memory of this process. Closing them keeps their contents.
 * @throws HoldfastError `OPTION_INVALID`, `ENCRYPTION_KEY_INVALID`.
 * @example
 * const { memory, database } = inMemoryClients();
 * await memory.append("run-1", { said: "The sky is blue." });
 * await database.write("facts", "sky", { colour: "blue" });
 * const [best] = await memory.search("blue sky");
 */
export function inMemoryClients(options: MemoryClientOptions = {}): Clients {
	checkOptions(options, clientNames, { of: "inMemoryClients()" });
	const { encryption } = options;
	const keyRing = encryption === undefined ? undefined : new KeyRing(encryption);
	return clientsOver(inMemoryStorage(), options, keyRing);
}

/** Returns only the memory client of `inMemoryClients()`. */
export function inMemoryClient(options: MemoryClientOptions = {}): FullMemoryClient {
	checkOptions(options, clientNames, { of: "inMemoryClient()" });
	return inMemoryClients(options).memory;
}
