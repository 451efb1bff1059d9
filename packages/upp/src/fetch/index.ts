// Entry point of fetching from servers that are not trusted.
export { type BoundFetchOptions, boundFetch } from "./bound-fetch.ts";
