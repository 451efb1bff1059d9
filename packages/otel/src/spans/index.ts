// Door of the spans.
export { providerOf } from "./provider-name.ts";
export { type RunParent, RunTrace } from "./run-trace.ts";
export type { Telling } from "./span-writer.ts";
