// Entry point of the ids of traces and spans.
export { type Place, type RunIds, runIds, StableIds, spanIdOf, traceIdOf } from "./run-ids.ts";
