// Door of the clients over a place.
export { clientsOver } from "./clients-over.ts";
