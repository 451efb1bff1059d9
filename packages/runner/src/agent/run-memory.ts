// The memory of one run: the caller's, or its own, created on first use. The run stores its own results there only then,
// because most runs never use memory.
import type { MemoryClient } from "@holdfast/memory";
import type { PlannedWrite } from "../contract/index.ts";

export class RunMemory {
	readonly #make: () => MemoryClient;
	#client: MemoryClient | undefined;
	#kept: PlannedWrite[] = [];

	constructor(make: () => MemoryClient) {
		this.#make = make;
	}

	/** With all that was kept. */
	client(): MemoryClient {
		this.#client ??= this.#make();
		const kept = this.#kept;
		if (kept.length > 0) {
			this.#kept = [];
			for (const { key, id, entry } of kept) void this.#client.append(key, entry, { id });
		}
		return this.#client;
	}

	/** Keeps entries that are on record. */
	keep(writes: readonly PlannedWrite[]): void {
		for (const write of writes) this.#kept.push(write);
	}

	/** Continues with another one, such as that of a run that was left. */
	becomes(client: MemoryClient): void {
		this.#client = client;
		this.#kept = [];
	}
}
