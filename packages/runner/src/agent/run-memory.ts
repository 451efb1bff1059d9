// The memory of one run: the caller's, or its own, created on first use. Only then does the run store its own results in
// it, because most runs never use memory.
import type { MemoryClient } from "@holdfast/memory";
import type { PlannedWrite } from "../contract/index.ts";

export class RunMemory {
	readonly #make: () => MemoryClient;
	#client: MemoryClient | undefined;
	#kept: PlannedWrite[] = [];

	constructor(make: () => MemoryClient) {
		this.#make = make;
	}

	/** Returns the client, with all entries so far. */
	client(): MemoryClient {
		this.#client ??= this.#make();
		const kept = this.#kept;
		if (kept.length > 0) {
			this.#kept = [];
			for (const { key, id, entry } of kept) void this.#client.append(key, entry, { id });
		}
		return this.#client;
	}

	/** Stores entries that are recorded. */
	keep(writes: readonly PlannedWrite[]): void {
		for (const write of writes) this.#kept.push(write);
	}

	/** Switches to another client, such as that of an interrupted run. */
	becomes(client: MemoryClient): void {
		this.#client = client;
		this.#kept = [];
	}
}
