// The main entry: what memory and database clients are.
export type {
	AppendOptions,
	Caller,
	Comparison,
	DatabaseClient,
	MemoryClient,
	Query,
	QueryOptions,
	ReadOptions,
	SearchMatch,
	SearchOptions,
} from "./contract/index.ts";
export { inMemoryClient } from "./in-memory/in-memory-client.ts";
