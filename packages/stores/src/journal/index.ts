// Entry point of the journal over a session store.
export { headKey } from "./derived-keys.ts";
