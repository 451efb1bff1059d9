// The door of the ids.

export { uuid } from "./uuid.ts";
