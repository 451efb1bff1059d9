// Converts a model in any accepted form into a ModelReference, or throws an error that explains the problem.

import { bindLanguageModel, type LanguageModel } from "../ai-sdk/index.ts";
import { HoldfastError } from "../errors/index.ts";
import { createProvider, type ModelReference, type Provider } from "../model/index.ts";

// The same model always gets the same reference, so callers may cache by reference.
const references = new WeakMap<LanguageModel, ModelReference>();

/**
 * Converts a model in any accepted form to a reference.
 * @throws HoldfastError `provider_not_called`: a provider was given without a model's id; `invalid_model`: it is not a
 * model.
 */
export function resolveModel(model: ModelReference | LanguageModel): ModelReference {
	if (isLanguageModel(model)) return referenceTo(model);
	if (isModelReference(model)) return model;
	if (typeof model === "function") throw notCalled(model as Provider);
	const given: unknown = model;
	if (typeof given === "string") {
		throw new HoldfastError(
			"invalid_model",
			`The model "${given}" is given as text. Create it with a provider: \`openai("${given}")\` from "@holdfast/upp", or a model of any @ai-sdk package.`,
		);
	}
	throw new HoldfastError(
		"invalid_model",
		`${describe(given)} is not a model. Pass the return value of a provider, such as \`openai("gpt-5.2")\`, or a model of the AI SDK (specification v2, v3 or v4).`,
	);
}

/** Whether a value is a reference created by a UPP provider. */
export function isModelReference(value: unknown): value is ModelReference {
	if (typeof value !== "object" || value === null) return false;
	const reference = value as Partial<ModelReference>;
	return typeof reference.modelId === "string" && typeof reference.provider === "function";
}

/** Whether a value is a supported AI SDK model, judged by its shape. */
export function isLanguageModel(value: unknown): value is LanguageModel {
	if (typeof value !== "object" || value === null) return false;
	const model = value as Partial<LanguageModel>;
	return (
		isKnownVersion(model.specificationVersion) &&
		typeof model.doGenerate === "function" &&
		typeof model.doStream === "function"
	);
}

function isKnownVersion(version: unknown): boolean {
	return version === "v2" || version === "v3" || version === "v4";
}

function referenceTo(model: LanguageModel): ModelReference {
	let reference = references.get(model);
	if (reference === undefined) {
		const bound = bindLanguageModel(model);
		const provider = createProvider({
			name: model.provider,
			version: model.specificationVersion,
			modalities: { llm: { bind: () => bound } },
		});
		reference = provider(model.modelId);
		references.set(model, reference);
	}
	return reference;
}

function notCalled(given: Partial<Provider> & { languageModel?: unknown }): HoldfastError {
	if (given.modalities === undefined && typeof given.languageModel !== "function") {
		return new HoldfastError(
			"invalid_model",
			"A function is not a model. Call a provider with a model's id, and pass the return value.",
		);
	}
	const name = given.name === undefined || given.name === "" ? "provider" : given.name;
	return new HoldfastError(
		"provider_not_called",
		`The provider "${name}" was given where a model is expected. Call it with a model's id: \`${name}("...")\`.`,
	);
}

function describe(value: unknown): string {
	if (value === undefined || value === null) return `A model is needed: ${value}`;
	if (typeof value !== "object") return `A ${typeof value}`;
	const model = value as Partial<Record<"specificationVersion" | "doGenerate" | "doStream", unknown>>;
	const version = model.specificationVersion;
	const missing = (["doGenerate", "doStream"] as const).find((name) => typeof model[name] !== "function");
	if (isKnownVersion(version) && missing !== undefined)
		return `An object with specificationVersion "${version}" and no function \`${missing}\``;
	return version === undefined ? "The object given" : `An object with specificationVersion "${version}"`;
}
