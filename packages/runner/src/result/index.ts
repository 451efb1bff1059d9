// Entry point of the results: the outcome of a run, and its events.

export { type EventData, keptWrites } from "./event-of.ts";
export { countOfFacts, FactEvents, type PastEvent, pastEvents } from "./fact-events.ts";
export { type ResultExtras, resultOf } from "./result-of.ts";
export { shownData, shownInput } from "./shown-input.ts";
