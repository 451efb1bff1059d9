// Entry point of the spans.
export { providerOf } from "./provider-name.ts";
export { type RunParent, RunTrace } from "./run-trace.ts";
export type { Destination } from "./span-writer.ts";
