// Entry point of the metrics.
export { RunMetrics } from "./run-metrics.ts";
