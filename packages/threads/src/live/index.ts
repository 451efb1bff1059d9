// Entry point of projects that are reloaded when their files change.
export {
	type ProjectChange,
	type WatchedProject,
	type WatchProjectOptions,
	watchProject,
} from "./watch-project.ts";
