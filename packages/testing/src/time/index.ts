// Door of time.
export { type ManualTime, manualTime } from "./manual-time.ts";
