// Entry point of models for tests.
export {
	type Script,
	type ScriptedCall,
	type ScriptedModel,
	type ScriptedModelOptions,
	type ScriptedReply,
	scriptedModel,
} from "./scripted-model.ts";
