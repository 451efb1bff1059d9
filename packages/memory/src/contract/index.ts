// Entry point of the contract: the interfaces of memory and database clients.
export type {
	AccessAudit,
	AccessRecord,
	AccessRule,
	ClientOptions,
	Clients,
	Encryption,
	FullDatabaseClient,
	FullMemoryClient,
	PersistentOptions,
	Retention,
} from "./clients.ts";
export type { Comparison, DatabaseClient, MatchOptions, Query, QueryOptions } from "./database-client.ts";
export type { Embed, EmbeddingModel, EmbedOptions, EmbedTexts } from "./embedding.ts";
export type {
	AppendOptions,
	Caller,
	MemoryClient,
	ReadOptions,
	SearchMatch,
	SearchOptions,
} from "./memory-client.ts";
