// A service whose clients are its own: they may set all fields of a session.
import type { ClientField } from "./service/service-types.ts";

/** All that clients may be let set. */
export const everyField: readonly ClientField[] = ["prompt", "history", "tools", "model", "options"];
