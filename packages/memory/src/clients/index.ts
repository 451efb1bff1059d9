// Entry point of the clients over a storage.
export { clientsOver } from "./clients-over.ts";
