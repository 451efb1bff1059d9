// Door of the results: what a run came to, and what is emitted of it.
export { type ResultExtras, resultOf } from "./agent-result.ts";
export { eventOf } from "./event-of.ts";
