// Door of what travels between the page and the server.
export { shownEntry, trimmed } from "./shown-entry.ts";
export type {
	InspectedCounts,
	InspectedSession,
	SessionCounts,
	SessionLook,
	ShownEntry,
	ShownSession,
	ShownStep,
	UsageBucket,
} from "./types.ts";
