// Door of the strategies: deciders that come with the house.
export { type LoopOptions, loop } from "./loop.ts";
export { type PlanOptions, plan } from "./plan.ts";
export { type ReactOptions, react } from "./react.ts";
