// Entry point of the data exchanged between the page and the server.
export { shownEntry } from "./shown-entry.ts";
export type {
	FoundText,
	InspectedCounts,
	InspectedSession,
	InspectorAbout,
	Playground,
	SessionCounts,
	SessionLook,
	ShownEntry,
	ShownPart,
	ShownPrompt,
	ShownSession,
	ShownStatus,
	ShownStep,
	ShownTrialAnswer,
	ShownTrialResult,
	ShownWaitingCall,
	UnreadableSession,
	UsageBucket,
	UsageGroup,
	UsageLatency,
} from "./types.ts";
