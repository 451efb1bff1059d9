/** The offline model: answers from the files by retrieval, without a language model. */
export { decide, type OfflineDecision } from "./decide.ts";
