// Entry point `@holdfast/context`: what fills a model's context.

export * from "./skills/index.ts";
