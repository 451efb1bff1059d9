// Entry `holdfast/checkpoint`: sessions of pure agents kept in files. The only entry that touches node:fs.
export {
	type FileCheckpointOptions,
	type FileCheckpoints,
	fileCheckpoints,
} from "./checkpoint/file/file-checkpoints.ts";
export type { CheckpointMetadata, CheckpointStore } from "./checkpoint/index.ts";
