// Door of what may be kept, and how keys are stored.
export { writtenValue } from "./plain-data.ts";
export { givenName, storedName } from "./stored-name.ts";
