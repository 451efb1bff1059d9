/** The offline model: answers from the files by retrieval, without a language model. */
export { offline } from "./model.ts";
