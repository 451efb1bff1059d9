// Entry point of the storage interface.
export { damaged, duration, failed, notInstalled, unavailable, withinTime } from "./errors.ts";
export type {
	Expired,
	FoundRecord,
	Kind,
	NewRecord,
	Storage,
	StoredRecord,
	Window,
	WordSearch,
} from "./storage.ts";
