// The entry point of threads: conversations that callers store themselves.

export { Thread, type ThreadJSON, type ThreadOptions } from "./thread.ts";
