// Door of the strategies: deciders that come with the house.
export { type LoopOptions, loop } from "./loop.ts";
