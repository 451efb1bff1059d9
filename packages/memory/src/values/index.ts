// Entry point of allowed values and stored keys.
export { writtenValue } from "./plain-data.ts";
export { givenName, storedName } from "./stored-name.ts";
