// Door of following.
export { type FollowedJournal, followPages, placeAfter } from "./follow-pages.ts";
