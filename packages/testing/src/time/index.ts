// Entry point of time.
export { type ManualTime, manualTime } from "./manual-time.ts";
