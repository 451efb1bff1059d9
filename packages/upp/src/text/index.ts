// The entry point of text functions that never split a character.

export { cutText } from "./cut-text.ts";
export { wellFormed } from "./well-formed.ts";
