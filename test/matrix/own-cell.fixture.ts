// What the cells of places have in common whose agents are defined in a way of their own: threads, the runner, the command.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Host, memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";

/** A feature in one of these places, with or without a restart. */
export interface OwnCell {
	readonly place: string;
	readonly name: string;
	/** The code of a refusal, or what must have come of it. */
	readonly expected: unknown;
	play(): Promise<unknown>;
}

/** What is stored, which each deployment opens anew. */
export interface Store {
	open(): Host;
	/** After the last deployment. */
	close(): Promise<void>;
}

let postgres: (() => () => Host) | undefined;

/** States how a cell on Postgres gets its store: each call gives the way to open a new one. */
export function useOwnPostgres(make: () => () => Host): void {
	postgres = make;
}

/** Whether a cell needs a server of Postgres. */
export function needsPostgres({ place }: Pick<OwnCell, "place">): boolean {
	return place.endsWith("on Postgres");
}

export const stores: Readonly<Record<"in memory" | "on SQLite" | "on Postgres", () => Store>> = {
	"in memory": () => {
		const host = memoryHost();
		// A deployment that ends does not take the memory with it.
		const lent: Host = { ...host, close: async () => {} };
		return { open: () => lent, close: async () => host.close() };
	},
	"on SQLite": () => {
		const path = join(mkdtempSync(join(tmpdir(), "holdfast-matrix-")), "store.db");
		return { open: () => sqliteHost(path), close: async () => {} };
	},
	"on Postgres": () => {
		if (postgres === undefined) throw new Error("There is no Postgres.");
		return { open: postgres(), close: async () => {} };
	},
};

/** The code that something is refused with as it is made, or nothing. */
export async function refusalOf(make: () => unknown): Promise<unknown> {
	try {
		await make();
		return undefined;
	} catch (error) {
		return (error as { code?: unknown }).code ?? String(error);
	}
}
