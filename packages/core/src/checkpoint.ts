// Entry point `holdfast/checkpoint`: the port of checkpoint stores, and the file store.
export type { CheckpointData, CheckpointMetadata, CheckpointStore } from "./checkpoint/checkpoint-store.ts";
export {
	type FileCheckpointOptions,
	type FileCheckpoints,
	fileCheckpoints,
} from "./checkpoint/file-checkpoints.ts";
