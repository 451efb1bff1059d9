// Entry point of checkpoints: the port, and the saver that agents use. Stores in files are in `@holdfast/stores`, so that
// the main entry runs without a file system.
export { checkpointSaver } from "./checkpoint-saver.ts";
export type { CheckpointStore } from "./checkpoint-store.ts";
