// Door of callers.
export { type Caller, readCaller } from "./caller.ts";
