// The entry point of text functions that never split a character.

export { cutResult, mostResultCharacters } from "./cut-result.ts";
export { cutText } from "./cut-text.ts";
export { wellFormed } from "./well-formed.ts";
