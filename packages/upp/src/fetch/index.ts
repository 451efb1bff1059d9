// Entry point of fetching from untrusted servers.
export { type BoundFetchOptions, boundFetch } from "./bound-fetch.ts";
