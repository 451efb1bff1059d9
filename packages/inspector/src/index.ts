// The entry point: the page that shows a server's sessions, as routes of the server.
export { type Inspector, type InspectorOptions, inspector } from "./inspector.ts";
export type { InspectedPrompts } from "./routes/index.ts";
export type {
	InspectedCounts,
	InspectedSession,
	InspectorAbout,
	SessionCounts,
	SessionLook,
	ShownEntry,
	ShownPrompt,
	ShownSession,
	ShownStep,
	UsageBucket,
} from "./wire/index.ts";
