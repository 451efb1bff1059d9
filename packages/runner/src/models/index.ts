// Door of the models: providers, and the one that answers.
export { createRouter, type ModelRouter, type RouterOptions, type RoutingContext } from "./router.ts";
