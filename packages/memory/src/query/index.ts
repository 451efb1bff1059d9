// Entry point of queries.
export { answered, demandCount, rangeOf } from "./answer.ts";
export { invalid, matcherOf } from "./match.ts";
