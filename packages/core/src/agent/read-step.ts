// Checks what `prepareStep` returned, before anything is sent, and converts it to the engine's form.
import {
	checkOptions,
	HoldfastError,
	messageOf,
	nearest,
	optionNames,
	type ProviderConfig,
	readSystem,
	resolveModel,
	type System,
} from "@holdfast/upp";
import type { EngineModel, EngineStep, RunHead, SentTools } from "../engine/index.ts";
import { fingerprintWith, toolsPart } from "../engine/index.ts";
import type { PreparedStep, StepPart } from "../facts/index.ts";
import type { EngineTool } from "../tools/index.ts";
import { isInstance } from "./llm-instance.ts";
import type { AgentOptions } from "./options.ts";
import type { OwnParts, StepChanges } from "./prepare-step.ts";
import { isRuntimeLlm } from "./runtime-llm.ts";
import { type AgentToolChoice, checkToolChoice } from "./tool-choice.ts";

const changeNames = optionNames<StepChanges>({
	model: true,
	instructions: true,
	activeTools: true,
	toolChoice: true,
	params: true,
});
const insteadOfChanges = {
	system: "Write `instructions`.",
	tools: "Write `activeTools`, a list of names.",
	temperature: "Write `params: { temperature }`.",
	maxTokens: "Write `params: { maxTokens }`.",
	providerOptions: "Write `params: { providerOptions }`.",
	messages: "Middleware changes what the model sees of the history.",
	config: "It belongs to the agent, or to the model.",
};

/** More than a handful of sets of tools per agent is unusual; beyond this number, they are computed again. */
const keptSets = 64;

export class StepReader {
	readonly #options: AgentOptions;
	readonly #own: OwnParts;
	/** Models are bound once. */
	readonly #models = new WeakMap<object, EngineModel>();
	/** By the tools that are sent without changes, and the names of the active ones. */
	readonly #toolSets = new WeakMap<readonly EngineTool[], Map<string, Required<SentTools>>>();

	constructor(options: AgentOptions, own: OwnParts) {
		this.#options = options;
		this.#own = own;
	}

	/** @throws HoldfastError `invalid_step`. */
	read(given: unknown, tools: SentTools | undefined, head: RunHead | undefined): EngineStep | undefined {
		const { model, instructions, activeTools, toolChoice, params } = checked(given);
		const own = this.#own;
		const changed: StepPart[] = [];
		const identity: { modelId?: string; system?: System; tools?: string } = {};
		let bound: EngineModel | undefined;
		if (model !== undefined && model !== this.#options.model) {
			bound = this.#bind(model);
			changed.push("model");
			identity.modelId = String((model as { modelId: unknown }).modelId);
		}
		const system = head?.system ?? own.system ?? "";
		const hasInstructions = instructions !== undefined && !isAlike(instructions, system);
		if (hasInstructions) {
			changed.push("instructions");
			identity.system = instructions;
		}
		// A strategy that withholds the tools has already decided.
		const isOffered = tools !== undefined;
		const active =
			activeTools === undefined || !isOffered ? undefined : this.#active(activeTools, tools.list);
		if (active !== undefined) changed.push("activeTools");
		const part = active?.part ?? tools?.part;
		if (part !== undefined) identity.tools = part;
		const hasChoice = toolChoice !== undefined && isOffered;
		if (hasChoice) {
			checkChoice(toolChoice, active?.list ?? tools.list);
			if (!isAlike(toolChoice, this.#options.toolChoice)) changed.push("toolChoice");
		}
		if (params !== undefined && Object.keys(params).length > 0) changed.push("params");
		if (changed.length === 0) return undefined;
		const base = head?.fingerprint ?? own.fingerprint();
		const fingerprint = fingerprintWith(base, identity);
		const prepared: PreparedStep = {
			changed,
			...(active === undefined ? {} : { activeTools: active.list.map(({ name }) => name) }),
		};
		return {
			model: bound,
			instructions: hasInstructions ? instructions : undefined,
			params: hasChoice ? { ...params, toolChoice } : params,
			tools: active?.list,
			fingerprint: fingerprint === base ? undefined : fingerprint,
			prepared,
		};
	}

	/** Returns the model with the agent's settings, but without what belongs to another provider. */
	#bind(model: NonNullable<StepChanges["model"]>): EngineModel {
		const known = this.#models.get(model);
		if (known !== undefined) return known;
		if (isRuntimeLlm(model) || isInstance(model))
			throw invalid("`model` is a function or an instance. Return a model of a provider or of the AI SDK");
		try {
			const { config } = this.#options;
			const isSame = config === undefined || providerOf(model) === providerOf(this.#options.model);
			const options = { ...this.#options, model };
			const bound = this.#own.bind(isSame ? options : { ...options, config: withoutProvider(config) });
			this.#models.set(model, bound);
			return bound;
		} catch (cause) {
			throw invalid(`\`model\` cannot be used: ${messageOf(cause)}`, cause);
		}
	}

	/**
	 * Returns the tools of these names, in the order in which they are sent, then those that are not loaded; undefined if
	 * they are all that are sent.
	 */
	#active(names: readonly string[], sent: readonly EngineTool[]): Required<SentTools> | undefined {
		const { tools } = this.#own;
		const sets = this.#toolSets.get(sent) ?? new Map<string, Required<SentTools>>();
		this.#toolSets.set(sent, sets);
		const key = JSON.stringify(names);
		const known = sets.get(key);
		if (known !== undefined) return known;
		const wanted = new Set(names);
		for (const name of wanted) {
			if (tools.has(name)) continue;
			const meant = nearest(name, tools.keys());
			throw invalid(
				`\`activeTools\` names "${name}", which is not a tool of the agent.${meant === undefined ? "" : ` Did you mean "${meant}"?`}`,
			);
		}
		const list = sent.filter(({ name }) => wanted.delete(name));
		if (list.length === sent.length && wanted.size === 0) return undefined;
		for (const name of wanted) list.push(tools.get(name) as EngineTool);
		const set = { list, part: toolsPart(list) };
		if (sets.size >= keptSets) sets.clear();
		sets.set(key, set);
		return set;
	}
}

/** @throws HoldfastError `invalid_step` for anything but changes of the right types. */
function checked(given: unknown): StepChanges {
	if (typeof given !== "object" || given === null || Array.isArray(given))
		throw invalid("it must return an object with changes, or nothing");
	try {
		checkOptions(given, changeNames, { of: "A step", instead: insteadOfChanges });
		const { toolChoice } = given as StepChanges;
		if (toolChoice !== undefined) checkToolChoice(toolChoice);
	} catch (cause) {
		throw invalid(messageOf(cause), cause);
	}
	const { model, instructions, activeTools, params } = given as Record<keyof StepChanges, unknown>;
	if (model === null) throw invalid("`model` must be a model, or be left out");
	const isList = Array.isArray(activeTools) && activeTools.every((name) => typeof name === "string");
	if (activeTools !== undefined && !isList)
		throw invalid("`activeTools` must be a list of the names of tools");
	if (params !== undefined && (typeof params !== "object" || params === null || Array.isArray(params)))
		throw invalid("`params` must be an object of parameters");
	return instructions === undefined
		? (given as StepChanges)
		: { ...(given as StepChanges), instructions: readInstructions(instructions) };
}

function readInstructions(given: unknown): System {
	try {
		return readSystem(given, "instructions");
	} catch (cause) {
		throw invalid(messageOf(cause).replace(/^The option /, ""), cause);
	}
}

function checkChoice(choice: AgentToolChoice, tools: readonly EngineTool[]): void {
	if (typeof choice === "object" && !tools.some(({ name }) => name === choice.toolName))
		throw invalid(`\`toolChoice\` names "${choice.toolName}", which is not an active tool`);
	if (choice === "required" && tools.length === 0)
		throw invalid('`toolChoice` is "required", and no tool is active');
}

function isAlike<Given extends AgentToolChoice | System>(one: Given, other: Given | undefined): boolean {
	return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function providerOf(model: AgentOptions["model"]): string | undefined {
	return model === undefined ? undefined : resolveModel(model as never).provider.name;
}

/** Keys, addresses and headers of one provider must not be sent to another. */
function withoutProvider(config: ProviderConfig): ProviderConfig {
	const { apiKey: _, baseUrl: __, headers: ___, fetch: ____, ...rest } = config;
	return rest;
}

function invalid(what: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"invalid_step",
		`The changes that \`prepareStep\` returned cannot be used: ${what.replace(/\.$/, "")}.`,
		cause === undefined ? {} : { cause },
	);
}
