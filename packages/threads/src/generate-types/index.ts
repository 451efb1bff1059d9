// Types of the names of a project.
export { generateTypes, writeTypes } from "./generate-types.ts";
