// Entry point of a thread's files.
export { storeAttachments } from "./attachments.ts";
export { type FileMethods, fileMethods, filesOf } from "./file-methods.ts";
export type { FileContent, ThreadFiles } from "./thread-files.ts";
