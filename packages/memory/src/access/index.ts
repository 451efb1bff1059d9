// Entry point of access rules.
export { Access, type Place } from "./access.ts";
