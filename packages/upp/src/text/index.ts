// The entry point of text for others: complete characters only.

export { cutText } from "./cut-text.ts";
export { wellFormed } from "./well-formed.ts";
