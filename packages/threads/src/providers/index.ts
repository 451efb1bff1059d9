// Door of providers: theirs as models of the house, and models of the house as theirs.
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
