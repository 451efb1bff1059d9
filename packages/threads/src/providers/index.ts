// Entry point of providers: project providers as models, and models as project providers.
export {
	type AnswerMessage,
	generateWith,
	providerFailure,
	providerKey,
	streamInto,
} from "./ask-provider.ts";
export { type GivenModel, type ModelProviderOptions, modelProvider } from "./model-provider.ts";
export { type ProviderModelOptions, providerModel } from "./provider-model.ts";
export { assistantMessage } from "./upp-messages.ts";
