// A service that speaks document 3 with its clients: they may set all fields of a session.
import type { ClientField } from "./service/client-fields.ts";

/** All that clients may be let set. */
export const everyField: readonly ClientField[] = ["prompt", "history", "tools", "model", "options"];
