// Entry `@holdfast/runner/prompts`: versioned templates of prompts.
export {};
