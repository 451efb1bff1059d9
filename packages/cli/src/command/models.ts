/** Which model answers: what the user asked for, else what a key in the environment allows, else `offline`. */
import { anthropic, google, type ModelReference, openai, openaiCompatible } from "@holdfast/upp";
import type { ModelPrice } from "holdfast";
import { offline } from "../offline/index.ts";
import { UsageError } from "./usage-error.ts";

/** A chosen model. */
export interface ChosenModel {
	readonly reference: ModelReference;
	/** As it would be given to --model. */
	readonly name: string;
	/** Why it was chosen, when nobody asked for it. */
	readonly reason: string | undefined;
}

/** Keys that choose a provider by themselves, in this order, and the model used then. */
const byKey = [
	["OPENAI_API_KEY", "openai:gpt-5.2"],
	["ANTHROPIC_API_KEY", "anthropic:claude-sonnet-4-5"],
	["GOOGLE_GENERATIVE_AI_API_KEY", "google:gemini-2.5-pro"],
] as const;

/** US dollars for a million tokens, as the providers listed them at the end of 2025. Others are unknown. */
export const knownPrices: Readonly<Record<string, ModelPrice>> = {
	"gpt-5.2": { input: 1.75, output: 14, cacheRead: 0.175 },
	"gpt-5.1": { input: 1.25, output: 10, cacheRead: 0.125 },
	"gpt-5": { input: 1.25, output: 10, cacheRead: 0.125 },
	"gpt-5-mini": { input: 0.25, output: 2, cacheRead: 0.025 },
	"claude-opus-4-5": { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
	"claude-sonnet-4-5": { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
	"claude-haiku-4-5": { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
};

/**
 * Chooses the model.
 * @throws UsageError when the name cannot be read.
 */
export function chooseModel(
	asked: string | undefined,
	environment: Readonly<Record<string, string | undefined>>,
): ChosenModel {
	const wanted = asked ?? (environment.HOLDFAST_MODEL || undefined);
	if (wanted !== undefined)
		return {
			reference: readModel(wanted, environment),
			name: wanted,
			reason: asked === undefined ? "HOLDFAST_MODEL" : undefined,
		};
	for (const [key, name] of byKey)
		if ((environment[key] ?? "") !== "")
			return { reference: readModel(name, environment), name, reason: `${key} is set` };
	return { reference: offline, name: "offline", reason: "no key is set" };
}

function readModel(name: string, environment: Readonly<Record<string, string | undefined>>): ModelReference {
	if (name === "offline") return offline;
	const colon = name.indexOf(":");
	const provider = name.slice(0, Math.max(0, colon));
	const model = name.slice(colon + 1);
	if (colon > 0 && model !== "") {
		if (provider === "openai") return openai(model);
		if (provider === "anthropic") return anthropic(model);
		if (provider === "google") return google(model);
		if (provider === "openai-compatible") return compatible(name, model, environment);
	}
	throw new UsageError(
		`"${name}" is no model. Give openai:NAME, anthropic:NAME, google:NAME, openai-compatible:NAME@http://host:port/v1 or offline.`,
	);
}

function compatible(
	name: string,
	model: string,
	environment: Readonly<Record<string, string | undefined>>,
): ModelReference {
	// The model's own name may contain an @, so the address is what follows the last one before http.
	const [, modelId, baseURL] = /^(.+)@(https?:\/\/.+)$/.exec(model) ?? [];
	if (modelId === undefined || baseURL === undefined || !URL.canParse(baseURL))
		throw new UsageError(`"${name}" needs the server's address: openai-compatible:NAME@http://host:port/v1.`);
	const apiKey = environment.OPENAI_COMPATIBLE_API_KEY;
	return openaiCompatible(modelId, { baseURL, ...(apiKey ? { apiKey } : {}) });
}
