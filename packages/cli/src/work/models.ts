/** Which model answers: what the user asked for, else what a key in the environment allows, else `offline`. */
import { anthropic, google, type ModelReference, openai, openaiCompatible } from "@holdfast/upp";
import type { ModelPrice } from "holdfast/types";
import { offline } from "../offline/index.ts";
import { UsageError } from "./usage-error.ts";

/** A chosen model. */
export interface ChosenModel {
	readonly reference: ModelReference;
	/** As it would be given to --model. */
	readonly name: string;
	/** Why it was chosen, when it was not asked for. */
	readonly reason: string | undefined;
	/** Undefined where it is not known. */
	readonly price: ModelPrice | undefined;
}

/** The model that needs nothing. */
export const offlineModel: ChosenModel = {
	reference: offline,
	name: "offline",
	reason: undefined,
	price: undefined,
};

/** Keys that choose a provider by themselves, in this order, and the model used then. */
const byKey = [
	["OPENAI_API_KEY", "openai:gpt-5.2"],
	["ANTHROPIC_API_KEY", "anthropic:claude-sonnet-4-5"],
	["GOOGLE_GENERATIVE_AI_API_KEY", "google:gemini-2.5-pro"],
] as const;

/**
 * The price of the model, where the environment gives it: HOLDFAST_PRICE="INPUT,OUTPUT", US dollars for a million
 * tokens. Prices change, so none is built in; without one the cost is said to be unknown.
 */
function readPrice(environment: Readonly<Record<string, string | undefined>>): ModelPrice | undefined {
	const given = environment.HOLDFAST_PRICE ?? "";
	if (given === "") return undefined;
	const [input, output, ...rest] = given.split(",").map(Number);
	const isPrice = (value: number | undefined): value is number => value !== undefined && value >= 0;
	if (isPrice(input) && isPrice(output) && rest.length === 0) return { input, output };
	throw new UsageError(
		`HOLDFAST_PRICE is "${given}". Give two numbers, dollars for a million tokens in and out: "1.25,10".`,
	);
}

/**
 * Chooses the model.
 * @throws UsageError when the name or HOLDFAST_PRICE cannot be read.
 */
export function chooseModel(
	asked: string | undefined,
	environment: Readonly<Record<string, string | undefined>>,
): ChosenModel {
	const price = readPrice(environment);
	const wanted = asked ?? (environment.HOLDFAST_MODEL || undefined);
	if (wanted !== undefined)
		return {
			reference: readModel(wanted, environment),
			name: wanted,
			reason: asked === undefined ? "HOLDFAST_MODEL" : undefined,
			price,
		};
	for (const [key, name] of byKey)
		if ((environment[key] ?? "") !== "")
			return { reference: readModel(name, environment), name, reason: `${key} is set`, price };
	return { reference: offline, name: "offline", reason: "no key is set", price };
}

/**
 * The model of a text such as `openai:gpt-5.2`.
 * @throws UsageError when it is invalid.
 */
export function readModel(
	name: string,
	environment: Readonly<Record<string, string | undefined>>,
): ModelReference {
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
