// @holdfast/testing/same-as-memory: whether a journal answers as the one in memory, whatever is done. Needs `fast-check`.
export { type SameWorld, sameAsMemory } from "./same-as-memory/same-as-memory.ts";
