// The contract of memory and database clients, as a list of cases for any test runner. Each case gets a separate
// location.
import type { Clients, MemoryClientOptions } from "@holdfast/memory";
import type { ContractCase } from "../contract/index.ts";
import { accessCases } from "./access-cases.ts";
import { databaseCases } from "./database-cases.ts";
import { memoryCases } from "./memory-cases.ts";
import { searchCases } from "./search-cases.ts";
import type { WrittenCase } from "./written-case.ts";

/** A location for entries and values. */
export interface MemoryWorld {
	/** Creates clients over the location; clients see each other's writes. */
	clients(options?: Omit<MemoryClientOptions, "encryption">): Clients | Promise<Clients>;
	/** Removes the location. */
	end(): void | Promise<void>;
}

/** Options of `memoryContract`. */
export interface MemoryContractOptions {
	/** Prefix of each case's name. */
	readonly name: string;
	/** Creates an empty location. */
	make(): MemoryWorld | Promise<MemoryWorld>;
}

const cases: readonly WrittenCase[] = [...memoryCases, ...databaseCases, ...searchCases, ...accessCases];

/**
 * Returns the cases that memory and database clients must pass. Works with any test runner: pass each case's `name` and
 * `run` to yours.
 */
export function memoryContract(options: MemoryContractOptions): readonly ContractCase[] {
	return cases.map(({ title, run }) => ({
		name: `${options.name}: ${title}`,
		async run() {
			const world = await options.make();
			const opened: Clients[] = [];
			try {
				await run(async (given) => {
					const clients = await world.clients(given);
					opened.push(clients);
					return clients;
				});
			} finally {
				await Promise.all(opened.map((clients) => clients.close()));
				await world.end();
			}
		},
	}));
}
