// Door of the files of a thread.
export { storeAttachments } from "./attachments.ts";
export { findFiles } from "./find.ts";
export { grepFiles } from "./grep.ts";
export { ThreadFiles } from "./thread-files.ts";
export { thumbnailOf } from "./thumbnail.ts";
