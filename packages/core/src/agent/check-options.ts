// Checks, at creation, the options of an agent that would otherwise fail late or silently if they had the wrong type.
import {
	checkOptions,
	HoldfastTypeError,
	isHoldfastError,
	nearest,
	readDuration,
	resolveModel,
} from "@holdfast/upp";
import { type EngineAgent, modelWaitDefaults, streamLimits } from "../engine/index.ts";
import { hookNames, isDecider } from "../strategies/index.ts";
import { subagentToolNames } from "../subagents/index.ts";
import type { EngineTool } from "../tools/index.ts";
import { checkCache } from "./cache-policy.ts";
import { foreignOptions } from "./foreign-options.ts";
import { hasOwnTools, isInstance } from "./llm-instance.ts";
import { type AgentOptions, knownOptions } from "./options.ts";
import { isRuntimeLlm, runtimeLlmModel } from "./runtime-llm.ts";
import { checkSystem } from "./system-option.ts";
import { checkToolChoice } from "./tool-choice.ts";

const toolStrategyHooks = [
	"onToolCall",
	"onBeforeCall",
	"onAfterCall",
	"onError",
	"onMaxIterations",
] as const;

/** Options that a model with its own tools excludes. */
const ofTools = ["tools", "toolChoice", "toolStrategy", "subagents"] as const;

/** Options that a model with its own settings excludes. */
const ofRequests = [
	"cache",
	"prepareStep",
	"system",
	"instructions",
	"params",
	"config",
	"structure",
	"onRetry",
] as const;

const middlewareFunctions = ["before", "after", "onError", "stop", "begin"] as const;

/** The options that are checked here. */
interface CheckedOptions {
	readonly strategy?: unknown;
	readonly toolStrategy?: unknown;
	readonly middleware?: unknown;
	readonly toolChoice?: unknown;
	readonly cache?: unknown;
	readonly checkpoints?: unknown;
	readonly prices?: unknown;
	readonly remoteToolTimeoutMs?: unknown;
	readonly maxRestarts?: unknown;
	readonly keepDeltasMs?: unknown;
	readonly maxSteps?: unknown;
	readonly maxStreamed?: unknown;
	readonly modelWait?: unknown;
	readonly system?: unknown;
	readonly instructions?: unknown;
}

/** @throws HoldfastError `invalid_option` for an unknown option, with a suggestion. */
export function checkNames(options: AgentOptions): void {
	checkOptions(options, knownOptions, { of: "An agent", instead: foreignOptions });
}

/** @throws HoldfastError `invalid_option` if `model` is not a model, or another option conflicts with it. */
export function checkModel(options: AgentOptions): void {
	const { model } = options as { model?: unknown };
	const isModel =
		(typeof model === "object" && model !== null && "modelId" in model) ||
		hasOwnTools(model) ||
		isInstance(model);
	if (!isModel)
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`model\` must be a model: a reference of a provider, a LanguageModel of the AI SDK, an instance of \`llm()\`, or a function that is one.${whyNoModel(model)}`,
		);
	if (!hasOwnTools(model)) return;
	const kind = isInstance(model) ? "an instance of an LLM" : "a function";
	const refused = (name: string, why: string): HoldfastTypeError =>
		new HoldfastTypeError(
			"invalid_option",
			`The option \`${name}\` cannot be given with ${kind} as \`model\`: ${why}.`,
		);
	for (const name of ofTools) if (options[name] !== undefined) throw refused(name, "it has its own tools");
	for (const name of ofRequests)
		if (options[name] !== undefined) throw refused(name, "it has its own settings");
	if (!isRuntimeLlm(model)) return;
	const { modelId } = runtimeLlmModel(model).model;
	if (options.prices?.[modelId] !== undefined)
		throw refused(`prices["${modelId}"]`, "it does not report its usage");
}

/** Returns advice for two common mistakes: passing a model's name, or a provider that was not called. */
function whyNoModel(model: unknown): string {
	if (typeof model !== "string" && typeof model !== "function") return "";
	try {
		resolveModel(model as never);
		return "";
	} catch (error) {
		return isHoldfastError(error) ? ` ${error.message}` : "";
	}
}

/** @throws HoldfastError `invalid_option` naming the option, and the position in it, that has the wrong type. */
export function checkAgentOptions(options: CheckedOptions): void {
	const { strategy, middleware, checkpoints, prices } = options;
	const { maxRestarts = 0 } = options;
	for (const name of ["system", "instructions"] as const)
		if (options[name] !== undefined) checkSystem(options[name], name, options.cache);
	for (const name of ["remoteToolTimeoutMs", "keepDeltasMs"] as const) {
		const given = options[name];
		readDuration(name, given as number | undefined, 0, { most: Number.POSITIVE_INFINITY });
	}
	const { maxSteps, toolChoice, modelWait = "never" } = options;
	if (toolChoice !== undefined) checkToolChoice(toolChoice);
	if (options.cache !== undefined) checkCache(options.cache);
	const isNoCount = maxSteps !== Number.POSITIVE_INFINITY && !Number.isInteger(maxSteps);
	if (maxSteps !== undefined && (isNoCount || (maxSteps as number) <= 0))
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `maxSteps` must be a whole number above 0, or Infinity.",
		);
	if (options.maxStreamed !== undefined) checkMaxStreamed(options.maxStreamed);
	if (modelWait !== "never") checkModelWait(modelWait);
	if (strategy !== undefined)
		checkFunctions("strategy", readObject(strategy, "strategy", "of hooks"), hookNames);
	if (options.toolStrategy !== undefined) {
		const { maxIterations: _, ...hooks } = readObject(options.toolStrategy, "toolStrategy", "of hooks");
		checkFunctions("toolStrategy", hooks, toolStrategyHooks);
	}
	if (middleware !== undefined) checkMiddleware(middleware);
	if (checkpoints !== undefined) checkStore(checkpoints);
	if (prices !== undefined) checkPrices(prices);
	const isCount = maxRestarts === Number.POSITIVE_INFINITY || Number.isSafeInteger(maxRestarts);
	if (!isCount || (maxRestarts as number) < 0)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `maxRestarts` must be a whole number from 0, or Infinity.",
		);
}

function checkMaxStreamed(given: unknown): void {
	for (const [name, value] of Object.entries(readObject(given, "maxStreamed", "of numbers"))) {
		if (!Object.hasOwn(streamLimits, name))
			throw new HoldfastTypeError("invalid_option", `The option \`maxStreamed.${name}\` is not known.`);
		if (value === undefined || (typeof value === "number" && value >= 0)) continue;
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`maxStreamed.${name}\` must be a number of characters from 0, or Infinity.`,
		);
	}
}

function checkModelWait(given: unknown): void {
	if (typeof given !== "object" || given === null)
		throw new HoldfastTypeError("invalid_option", 'The option `modelWait` must be "never" or an object.');
	for (const [name, value] of Object.entries(given)) {
		if (!Object.hasOwn(modelWaitDefaults, name))
			throw new HoldfastTypeError("invalid_option", `The option \`modelWait.${name}\` is not known.`);
		if (name !== "attempts")
			readDuration(
				`modelWait.${name}`,
				value,
				0,
				name === "firstMs" ? {} : { most: Number.POSITIVE_INFINITY },
			);
		else if (value !== undefined && !(typeof value === "number" && value > 0))
			throw new HoldfastTypeError(
				"invalid_option",
				`The option \`modelWait.${name}\` must be a number above 0.`,
			);
	}
}

function checkMiddleware(given: unknown): void {
	if (!Array.isArray(given))
		throw new HoldfastTypeError("invalid_option", "The option `middleware` must be an array of middlewares.");
	for (const [index, each] of given.entries()) {
		const place = `middleware[${index}]`;
		if (typeof each === "function") {
			throw new HoldfastTypeError(
				"invalid_option",
				`The option \`${place}\` is a function. If it makes a middleware, call it: \`${each.name || "logging"}()\`.`,
			);
		}
		const one = readObject(each, place, "with a name and functions");
		checkFunctions(place, one, middlewareFunctions);
		if (typeof one.name === "string" || middlewareFunctions.some((name) => one[name] !== undefined)) continue;
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`${place}\` has no name and none of ${middlewareFunctions.join(", ")}: it is not a middleware.`,
		);
	}
}

function checkStore(given: unknown): void {
	if (typeof given === "function") {
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`checkpoints\` is a function. If it makes a store, call it: \`${given.name || "fileCheckpoints"}(...)\`.`,
		);
	}
	const store = readObject(given, "checkpoints", "with `save` and `load`");
	for (const name of ["save", "load"]) {
		if (typeof store[name] !== "function")
			throw new HoldfastTypeError("invalid_option", `The option \`checkpoints.${name}\` must be a function.`);
	}
}

function checkPrices(given: unknown): void {
	for (const [modelId, each] of Object.entries(readObject(given, "prices", "of prices by model id"))) {
		const place = `prices[${JSON.stringify(modelId)}]`;
		const price = readObject(each, place, "{ input, output }");
		for (const name of ["input", "output", "cacheRead", "cacheWrite"]) {
			const value = price[name];
			if (value === undefined && name.startsWith("cache")) continue;
			if (typeof value === "number" && Number.isFinite(value) && value >= 0) continue;
			throw new HoldfastTypeError(
				"invalid_option",
				`The option \`${place}.${name}\` must be a number from 0: US dollars for a million tokens.`,
			);
		}
	}
}

function readObject(given: unknown, option: string, kind: string): Record<string, unknown> {
	if (typeof given === "object" && given !== null && !Array.isArray(given))
		return given as Record<string, unknown>;
	throw new HoldfastTypeError("invalid_option", `The option \`${option}\` must be an object ${kind}.`);
}

/** @throws HoldfastError `invalid_option` for a hook that is not a function, or whose name is never called. */
function checkFunctions(option: string, holder: Record<string, unknown>, names: readonly string[]): void {
	for (const name of names) {
		if (holder[name] === undefined || typeof holder[name] === "function") continue;
		throw new HoldfastTypeError("invalid_option", `The option \`${option}.${name}\` must be a function.`);
	}
	for (const name of Object.keys(holder)) {
		// Objects may hold their own data and functions in addition to their hooks.
		const meant =
			names.includes(name) || typeof holder[name] !== "function" ? undefined : nearest(name, names, 2);
		if (meant === undefined || meant in holder) continue;
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`${option}\` has no function \`${name}\`. Did you mean \`${meant}\`?`,
			{ data: { option: name, meant } },
		);
	}
}

/**
 * Returns the tools, by name.
 * @throws HoldfastError `invalid_tool` if a tool depends on one that the agent does not have.
 */
export function checkDependencies(
	tools: ReadonlyMap<string, EngineTool>,
	subagents: AgentOptions["subagents"] = [],
): ReadonlyMap<string, EngineTool> {
	const ofSubagents = subagentToolNames(subagents);
	for (const [name, { dependsOn }] of tools) {
		const missing = dependsOn.find((other) => !tools.has(other) && !ofSubagents.includes(other));
		if (missing === undefined) continue;
		throw new HoldfastTypeError(
			"invalid_tool",
			`The tool "${name}" depends on "${missing}", which is not a tool of the agent. Its tools: ${[...tools.keys()].join(", ")}.`,
			{ data: { name, missing } },
		);
	}
	return tools;
}

/** @throws HoldfastError `conflicting_options` if a strategy that runs its own tools cannot load any. */
export function checkLoaders({ loadable }: Pick<EngineAgent, "loadable">, { execution }: AgentOptions): void {
	if (loadable === undefined || execution === undefined || isDecider(execution)) return;
	throw new HoldfastTypeError(
		"conflicting_options",
		`A tool has \`loadedBy\`, and the strategy "${execution.name}" has its own \`execute\`, which sends its tools itself. Leave \`loadedBy\` out.`,
	);
}

const ofModels = ["output", "maxSteps", "prepareStep", "cache", "toolChoice"] as const;

/** @throws HoldfastError `conflicting_options` for an option that has no effect on a strategy that calls no model. */
export function checkWithoutModel({ decider }: Pick<EngineAgent, "decider">, options: AgentOptions): void {
	if (decider.code === undefined) return;
	const isGiven = (name: (typeof ofModels)[number]): boolean =>
		(options[name] ?? Number.POSITIVE_INFINITY) !== Number.POSITIVE_INFINITY;
	const unused = ofModels.find(isGiven);
	if (unused === undefined) return;
	throw new HoldfastTypeError(
		"conflicting_options",
		`\`${unused}\` is given, and the strategy "${decider.name}" calls no model. Leave \`${unused}\` out.`,
	);
}
