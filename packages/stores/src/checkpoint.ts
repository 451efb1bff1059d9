// Entry `@holdfast/stores/checkpoint`: sessions of pure agents, stored in files.
export type { CheckpointMetadata, CheckpointStore } from "holdfast/checkpoint";
export {
	type FileCheckpointOptions,
	type FileCheckpoints,
	fileCheckpoints,
} from "./checkpoint/file-checkpoints.ts";
