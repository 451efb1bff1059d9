// Compares our shapes of the AI SDK's interface with the real ones.
import type {
	LanguageModelV2,
	LanguageModelV2StreamPart,
	LanguageModelV3,
	LanguageModelV3StreamPart,
	LanguageModelV4,
	LanguageModelV4CallOptions,
	LanguageModelV4FunctionTool,
	LanguageModelV4StreamPart,
	LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { expectTypeOf, test } from "vitest";
import type { ModelTool } from "../messages/index.ts";
import type { resolveModel } from "../providers/index.ts";
import type { AISDKUsage, CallOptions, LanguageModel, StreamPart } from "./language-model-types.ts";

test("every version of the AI SDK's models is accepted as a model", () => {
	expectTypeOf<LanguageModelV2>().toExtend<LanguageModel>();
	expectTypeOf<LanguageModelV3>().toExtend<LanguageModel>();
	expectTypeOf<LanguageModelV4>().toExtend<LanguageModel>();
	expectTypeOf<LanguageModelV4>().toExtend<Parameters<typeof resolveModel>[0]>();
	expectTypeOf<string>().not.toExtend<Parameters<typeof resolveModel>[0]>();
});

test("every part they stream is accepted", () => {
	expectTypeOf<LanguageModelV2StreamPart["type"]>().toExtend<StreamPart["type"]>();
	expectTypeOf<Extract<LanguageModelV2StreamPart, { type: "tool-call" }>>().toExtend<StreamPart>();
	expectTypeOf<Extract<LanguageModelV3StreamPart, { type: "finish" }>>().toExtend<StreamPart>();
	expectTypeOf<Extract<LanguageModelV4StreamPart, { type: "finish" }>>().toExtend<StreamPart>();
	expectTypeOf<Extract<LanguageModelV4StreamPart, { type: "text-delta" }>>().toExtend<StreamPart>();
	expectTypeOf<LanguageModelV4Usage>().toExtend<AISDKUsage>();
});

test("the arguments they are called with have the names and types they expect", () => {
	type Ours = Omit<CallOptions, "prompt" | "tools" | "reasoning" | "responseFormat" | "headers">;
	expectTypeOf<Required<Ours>>().toExtend<Required<Pick<LanguageModelV4CallOptions, keyof Ours>>>();
	expectTypeOf<keyof CallOptions>().toExtend<keyof LanguageModelV4CallOptions>();
	expectTypeOf<ModelTool["parameters"]>().toExtend<LanguageModelV4FunctionTool["inputSchema"]>();
});
