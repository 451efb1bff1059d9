// Door of the results: what a run came to, and what is emitted of it.

export { type EventData, keptWrites } from "./event-of.ts";
export { countOfFacts, FactEvents, type PastEvent, pastEvents } from "./fact-events.ts";
export { type ResultExtras, resultOf } from "./result-of.ts";
export { shownData, shownInput } from "./shown-input.ts";
