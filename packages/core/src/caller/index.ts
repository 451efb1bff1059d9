// The entry point of callers.
export { type Caller, isSameCaller, readCaller } from "./caller.ts";
