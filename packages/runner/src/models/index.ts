// Entry point of the models: providers, and the selection of one.
export {
	type AdapterOptions,
	anthropicClient,
	type KeyedAdapterOptions,
	localClient,
	openaiClient,
} from "./adapters.ts";
export { type ModelClientOptions, modelClient } from "./model-client.ts";
export { createRouter, type ModelRouter, type RouterOptions, type RoutingContext } from "./router.ts";
