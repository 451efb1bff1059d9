// Entry point of the contract: the interfaces of memory and database clients.
export type {
	AccessAudit,
	AccessRecord,
	AccessRule,
	Clients,
	Encryption,
	FullDatabaseClient,
	FullMemoryClient,
	MemoryClientOptions,
	PersistentOptions,
	Retention,
} from "./clients.ts";
export type { Comparison, DatabaseClient, MatchOptions, Query, QueryOptions } from "./database-client.ts";
export type { Embed, EmbeddingModel, EmbedOptions, EmbedTexts } from "./embedding.ts";
export type {
	AppendOptions,
	MemoryCaller,
	MemoryClient,
	MemoryReadOptions,
	SearchMatch,
	SearchOptions,
} from "./memory-client.ts";
