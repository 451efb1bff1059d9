// Entry point of the clients over a SQLite file.
export { type SqliteOptions, sqliteClients } from "./sqlite-clients.ts";
