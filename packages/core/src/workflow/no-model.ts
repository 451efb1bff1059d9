// The model of a workflow's agent: none. Servers and hosts expect every agent to have one.
import { createProvider, HoldfastError, type ModelReference } from "@holdfast/upp";

const capabilities = {
	streaming: false,
	tools: false,
	structuredOutput: false,
	imageInput: false,
	videoInput: false,
	audioInput: false,
};

function refuse(): never {
	throw new HoldfastError(
		"model_missing",
		"A workflow has no model. Call models and agents in its code, inside of a step.",
	);
}

/** Returns a model that refuses to be called. */
export function noModel(): ModelReference {
	const provider = createProvider({
		name: "workflow",
		version: "1",
		modalities: {
			llm: { bind: (modelId: string) => ({ modelId, capabilities, complete: refuse, stream: refuse }) },
		},
	});
	return provider("none");
}
