// Entry point of following.
export { type FollowedJournal, followPages, placeAfter } from "./follow-pages.ts";
export { type FollowedEvent, type FollowOptions, followStoreKey } from "./follow-session.ts";
