export { type LargeResultsOptions, largeResults } from "./large-results.ts";
