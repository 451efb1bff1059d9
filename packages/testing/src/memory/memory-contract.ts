// The contract that memory and database clients keep, as a list of cases for any test runner. Each case gets a place of
// its own.
import type { Clients, MemoryClientOptions } from "@holdfast/memory";
import type { ContractCase } from "../contract/index.ts";
import { accessCases } from "./access-cases.ts";
import { databaseCases } from "./database-cases.ts";
import { memoryCases } from "./memory-cases.ts";
import { searchCases } from "./search-cases.ts";
import type { WrittenCase } from "./written-case.ts";

/** One place that entries and values are kept in. */
export interface MemoryWorld {
	/** Clients over the place; what some wrote, the others find. */
	clients(options?: Omit<MemoryClientOptions, "encryption">): Clients | Promise<Clients>;
	/** Removes the place. */
	end(): void | Promise<void>;
}

/** Options of `memoryContract`. */
export interface MemoryContractOptions {
	/** Precedes the name of each case. */
	readonly name: string;
	/** Makes a new, empty place. */
	make(): MemoryWorld | Promise<MemoryWorld>;
}

const cases: readonly WrittenCase[] = [...memoryCases, ...databaseCases, ...searchCases, ...accessCases];

/**
 * The cases that memory and database clients must keep. Needs no test runner: give each case's `name` and `run` to yours.
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
