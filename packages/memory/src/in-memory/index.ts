// Door of the clients in memory.
export { inMemoryClient } from "./in-memory-client.ts";
