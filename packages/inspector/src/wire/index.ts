// Door of what travels between the page and the server.
export { shownEntry } from "./shown-entry.ts";
export type {
	InspectedCounts,
	InspectedSession,
	SessionCounts,
	SessionLook,
	ShownEntry,
	ShownSession,
	ShownStatus,
	ShownStep,
	UsageBucket,
} from "./types.ts";
