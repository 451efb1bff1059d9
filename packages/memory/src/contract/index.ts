// Door of the contract: what memory and database clients are.
export type { Comparison, DatabaseClient, Query, QueryOptions } from "./database-client.ts";
export type {
	AppendOptions,
	Caller,
	MemoryClient,
	ReadOptions,
	SearchMatch,
	SearchOptions,
} from "./memory-client.ts";
