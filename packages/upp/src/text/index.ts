// The door of text that others read: whole characters only.

export { cutText } from "./cut-text.ts";
export { wellFormed } from "./well-formed.ts";
