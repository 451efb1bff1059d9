// The entry point of the files.

export { makeFolder } from "./make-folder.ts";
