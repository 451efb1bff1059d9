// Entry point of the observer.
export type { ObserverLogger } from "../logs/index.ts";
export { type Observer, type ObserverOptions, observe } from "./observe.ts";
