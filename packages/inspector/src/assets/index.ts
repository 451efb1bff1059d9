// Entry point of the page's files.
export { type PageFile, pageFile } from "./page-files.ts";
