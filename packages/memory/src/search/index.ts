// Entry point of search: words, ranking, vectors.
export { fused } from "./fusion.ts";
export { bytesOf, type Embedder, embedderOf, similarity, vectorFrom } from "./vectors.ts";
export { type Ranked, WordIndex } from "./word-index.ts";
export { queryWords, textOf, wordsOf } from "./words.ts";
