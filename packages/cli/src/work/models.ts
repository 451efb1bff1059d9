/**
 * Chooses the model: the one the user requested, otherwise one for which the environment has a key, otherwise
 * `offline`.
 */
import { findPackageJSON } from "node:module";
import { anthropic, google, type ModelReference, openai, openaiCompatible } from "@holdfast/upp";
import type { ModelPrice } from "holdfast/types";
import { offline } from "../offline/index.ts";
import { UsageError } from "./usage-error.ts";

/** A chosen model. */
export interface ChosenModel {
	readonly reference: ModelReference;
	/** As given to --model. */
	readonly name: string;
	/** Why it was chosen, if the user did not request it. */
	readonly reason: string | undefined;
	/** Undefined if it is unknown. */
	readonly price: ModelPrice | undefined;
	/** Tokens that fit into a request and its answer; undefined if it is unknown. */
	readonly contextWindow?: number | undefined;
}

/** The model that requires neither key nor network. */
export const offlineModel: ChosenModel = {
	reference: offline,
	name: "offline",
	reason: undefined,
	price: undefined,
};

/** Keys that select a provider, in this order, and the model used then. */
const byKey = [
	["OPENAI_API_KEY", "openai:gpt-5.2"],
	["ANTHROPIC_API_KEY", "anthropic:claude-sonnet-4-5"],
	["GOOGLE_GENERATIVE_AI_API_KEY", "google:gemini-2.5-pro"],
] as const;

/**
 * Reads the model's price from the environment: HOLDFAST_PRICE="INPUT,OUTPUT", in US dollars per million tokens. Prices
 * change, so none is built in; without one, the cost is reported as unknown.
 */
function readPrice(environment: Readonly<Record<string, string | undefined>>): ModelPrice | undefined {
	const given = environment.HOLDFAST_PRICE ?? "";
	if (given === "") return undefined;
	const [input, output, ...rest] = given.split(",").map(Number);
	const isPrice = (value: number | undefined): value is number => value !== undefined && value >= 0;
	if (isPrice(input) && isPrice(output) && rest.length === 0) return { input, output };
	throw new UsageError(
		`HOLDFAST_PRICE is "${given}". Give two numbers, the dollars per million input tokens and output tokens: "1.25,10".`,
	);
}

/** Reads the size of the model's context from the environment: HOLDFAST_CONTEXT_WINDOW, in tokens. None is built in. */
function readContextWindow({
	HOLDFAST_CONTEXT_WINDOW: given = "",
}: Readonly<Record<string, string | undefined>>): number | undefined {
	if (given === "") return undefined;
	const tokens = Number(given);
	if (Number.isSafeInteger(tokens) && tokens > 0) return tokens;
	throw new UsageError(`HOLDFAST_CONTEXT_WINDOW is "${given}". Give a number of tokens: 200000.`);
}

/** Returns the default models of the providers whose keys are set, and the name of each key. */
export function modelsByKey(
	environment: Readonly<Record<string, string | undefined>>,
): readonly { readonly name: string; readonly key: string }[] {
	return byKey.filter(([key]) => (environment[key] ?? "") !== "").map(([key, name]) => ({ name, key }));
}

/** The package that each provider needs. */
const packages: Readonly<Record<string, string>> = {
	openai: "@ai-sdk/openai",
	anthropic: "@ai-sdk/anthropic",
	google: "@ai-sdk/google",
	"openai-compatible": "@ai-sdk/openai-compatible",
};

/** Whether a package is installed: where `@holdfast/upp` loads it from, or where this command is. */
export function isInstalled(packageName: string): boolean {
	return succeeds(
		() => findPackageJSON(packageName, import.meta.resolve("@holdfast/upp")),
		() => import.meta.resolve(packageName),
	);
}

/** Whether any of the searches finds something. A search that finds nothing may also throw. */
function succeeds(...searches: readonly (() => string | undefined)[]): boolean {
	return searches.some((search) => {
		try {
			return search() !== undefined;
		} catch {
			return false;
		}
	});
}

/** Fails when a model is chosen, and not after the first message. */
function requirePackage(model: string, provider: string, has: typeof isInstalled): void {
	const name = packages[provider];
	if (name === undefined || has(name)) return;
	throw new UsageError(
		`The model ${model} needs the package ${name}, which is not installed. Run \`npm install ${name}\` where this command is installed, or use --model offline.`,
	);
}

/**
 * Chooses the model.
 * @throws UsageError if the name or HOLDFAST_PRICE is invalid, or the provider's package is not installed.
 */
export function chooseModel(
	asked: string | undefined,
	environment: Readonly<Record<string, string | undefined>>,
	has: typeof isInstalled = isInstalled,
): ChosenModel {
	const price = readPrice(environment);
	const contextWindow = readContextWindow(environment);
	const wanted = asked ?? (environment.HOLDFAST_MODEL || undefined);
	if (wanted !== undefined)
		return {
			reference: readModel(wanted, environment, has),
			name: wanted,
			reason: asked === undefined ? "HOLDFAST_MODEL" : undefined,
			price,
			contextWindow,
		};
	for (const [key, name] of byKey)
		if ((environment[key] ?? "") !== "")
			return {
				reference: readModel(name, environment, has),
				name,
				reason: `${key} is set`,
				price,
				contextWindow,
			};
	return { reference: offline, name: "offline", reason: "no key is set", price, contextWindow };
}

/**
 * Parses a model such as `openai:gpt-5.2`.
 * @throws UsageError if it is invalid, or the provider's package is not installed.
 */
export function readModel(
	name: string,
	environment: Readonly<Record<string, string | undefined>>,
	has: typeof isInstalled = isInstalled,
): ModelReference {
	if (name === "offline") return offline;
	const colon = name.indexOf(":");
	const provider = name.slice(0, Math.max(0, colon));
	const model = name.slice(colon + 1);
	if (colon > 0 && model !== "") {
		requirePackage(name, provider, has);
		if (provider === "openai") return openai(model);
		if (provider === "anthropic") return anthropic(model);
		if (provider === "google") return google(model);
		if (provider === "openai-compatible") return compatible(name, model, environment);
	}
	throw new UsageError(
		`"${name}" is not a model. Give openai:NAME, anthropic:NAME, google:NAME, openai-compatible:NAME@http://host:port/v1 or offline.`,
	);
}

function compatible(
	name: string,
	model: string,
	environment: Readonly<Record<string, string | undefined>>,
): ModelReference {
	// The model's name may contain an @, so the address starts after the last one before http.
	const [, modelId, baseURL] = /^(.+)@(https?:\/\/.+)$/.exec(model) ?? [];
	if (modelId === undefined || baseURL === undefined || !URL.canParse(baseURL))
		throw new UsageError(`"${name}" needs the server's address: openai-compatible:NAME@http://host:port/v1.`);
	const apiKey = environment.OPENAI_COMPATIBLE_API_KEY;
	return openaiCompatible(modelId, { baseURL, ...(apiKey ? { apiKey } : {}) });
}

/** Whether a model accepts images, if that is known. */
export function takesImages(model: unknown): boolean {
	const { capabilities, provider, modelId, options } = (model ?? {}) as {
		readonly capabilities?: { readonly imageInput?: boolean };
		readonly provider?: {
			readonly modalities?: { readonly llm?: { bind(id: string, options?: unknown): unknown } };
		};
		readonly modelId?: string;
		readonly options?: unknown;
	};
	if (capabilities !== undefined) return capabilities.imageInput !== false;
	const bound = provider?.modalities?.llm?.bind(modelId ?? "", options);
	return bound === undefined || takesImages({ capabilities: {}, ...(bound as object) });
}
