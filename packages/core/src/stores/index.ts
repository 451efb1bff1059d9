// Door of stores.
export { adaptExecutionHost } from "./adapt-host.ts";
export { storeJournal } from "./journal/store-journal.ts";
export { resolveHost, type SessionStoreHost } from "./resolve-host.ts";
export { storedValues } from "./stored-values.ts";
