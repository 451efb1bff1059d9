// Entry point of the log lines.
export { type ObserverLogger, RunLog } from "./run-log.ts";
