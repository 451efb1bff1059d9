// @holdfast/otel: OpenTelemetry GenAI spans, metrics and structured logs of the runs of a host, made of its events.
export type { ContentOptions } from "./content/index.ts";
export { type RunIds, runIds } from "./ids/index.ts";
export { type Observer, type ObserverLogger, type ObserverOptions, observe } from "./observer/index.ts";
