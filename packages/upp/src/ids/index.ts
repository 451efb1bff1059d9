// The entry point of the ids.

export { uuid } from "./uuid.ts";
