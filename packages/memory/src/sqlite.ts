// The entry of the clients over a SQLite file.
export type { Clients } from "./contract/index.ts";
export { type SqliteOptions, sqliteClients } from "./sqlite/index.ts";
