// Entry point of the clients in memory.
export { inMemoryClient, inMemoryClients } from "./in-memory-clients.ts";
