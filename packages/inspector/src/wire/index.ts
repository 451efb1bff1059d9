// Entry point of the data exchanged between the page and the server.
export { shownEntry } from "./shown-entry.ts";
export type {
	FoundText,
	InspectedCounts,
	InspectedSession,
	InspectorAbout,
	SessionCounts,
	SessionLook,
	ShownEntry,
	ShownPart,
	ShownPrompt,
	ShownSession,
	ShownStatus,
	ShownStep,
	ShownWaitingCall,
	UsageBucket,
	UsageGroup,
	UsageLatency,
} from "./types.ts";
