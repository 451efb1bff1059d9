// @holdfast/otel: OpenTelemetry GenAI spans, metrics and structured logs of a host's runs, derived from their events.
export type { ContentOptions } from "./content/index.ts";
export { type RunIds, runIds } from "./ids/index.ts";
export { type Observer, type ObserverLogger, type ObserverOptions, observe } from "./observer/index.ts";
