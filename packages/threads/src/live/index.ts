// Projects that are replaced when their files change.
export {
	type ProjectChange,
	type WatchedProject,
	type WatchProjectOptions,
	watchProject,
} from "./watch-project.ts";
