// Entry point `@holdfast/context`: what fills a model's context.

export * from "./agents-md/index.ts";
export * from "./large-results/index.ts";
export * from "./skills/index.ts";
export * from "./tool-search/index.ts";
