// Entry point of telemetry: counters and logs of the server.
export { errorEntry, type RequestLogEntry } from "./log.ts";
export { Metrics } from "./metrics.ts";
export { observeRuns } from "./observe-runs.ts";
