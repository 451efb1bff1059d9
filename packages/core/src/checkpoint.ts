// Entry `holdfast/checkpoint`: sessions of pure agents kept in files. The only entry that touches node:fs.

export type { CheckpointMetadata, CheckpointStore } from "./checkpoint/checkpoint-store.ts";
export {
	type FileCheckpointOptions,
	type FileCheckpoints,
	fileCheckpoints,
} from "./checkpoint/file/file-checkpoints.ts";
