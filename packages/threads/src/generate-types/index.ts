// Entry point of the types of a project's names.
export { generateTypes, writeTypes } from "./generate-types.ts";
