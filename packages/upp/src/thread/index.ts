// The door of threads: conversations that callers keep themselves.

export { Thread, type ThreadJSON, type ThreadOptions } from "./thread.ts";
