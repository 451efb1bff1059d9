// The agents of turns: built from what all sessions share and what each session stores. Sessions with equal setups share
// one agent.
import type { System } from "@holdfast/upp";
import {
	type AgentOptions,
	checkModel,
	modelIdOf,
	resolveAgent,
	type TurnOptions,
	withoutInstance,
} from "../agent/index.ts";
import type { EngineModel } from "../engine/index.ts";
import { type EngineTool, normaliseTools } from "../tools/index.ts";
import { modelMissing, toolNameConflict, unknownModel } from "./execute-errors.ts";
import { Recent } from "./recent.ts";
import type { SessionSetup, StoredTool } from "./session-setup.ts";
import { boundTools } from "./session-tools.ts";

/** The parts from which the agents of turns are built. */
export interface TurnAgentParts {
	/** The common options of all sessions' agents: model, system prompt, tools, prices and so on. */
	readonly agent: AgentOptions;
	/** Returns the model of that name. Default: only the agent's own model, by its id. */
	readonly models?: ((name: string) => AgentOptions["model"] | Promise<AgentOptions["model"]>) | undefined;
	/** The tools passed to createSession(): stored tools get their functions from these by name. @internal */
	readonly bound?: ReadonlyMap<string, EngineTool> | undefined;
	/**
	 * Returns the schema that validates the arguments of a session's stored tool. The model sees the tool's own schema.
	 * Default: that one. If it throws, the session is refused with that error.
	 */
	readonly checkedSchema?: (tool: Pick<StoredTool, "name" | "parameters">) => StoredTool["parameters"];
}

/** The parts of a session's agent that are not in its stored setup. */
export interface GivenAgent {
	/** A model given as an object instead of a name. */
	readonly model?: AgentOptions["model"];
	/** Options that replace those of the agent. */
	readonly own?: TurnOptions | undefined;
}

interface MadeAgent {
	readonly model: AgentOptions["model"];
	readonly options: TurnOptions;
}

/** The number of cached agents for later turns of sessions with the same setup. */
const keptAgents = 1_000;

export class TurnAgents {
	readonly #parts: TurnAgentParts;
	/** Cached agents, by the options that replace the agent's and by the stored setup. */
	readonly #made = new WeakMap<object, Recent<string, MadeAgent>>();
	readonly #own: ReadonlyMap<string, EngineTool>;

	/** @internal */
	constructor(parts: TurnAgentParts) {
		this.#parts = parts;
		this.#own = normaliseTools(parts.agent.tools);
	}

	/** The name of the default model. */
	get modelId(): string | undefined {
		return modelIdOf(this.#parts.agent.model);
	}

	/**
	 * Returns the agent of the session's turns.
	 *
	 * Rejects with `unknown_model`, `model_missing`, and the errors of its tools.
	 * @internal
	 */
	async of(stored: SessionSetup, { model, own }: GivenAgent = {}): Promise<TurnOptions> {
		const key = JSON.stringify(stored);
		const owner = own ?? this.#parts.agent;
		const made = this.#made.get(owner) ?? new Recent<string, MadeAgent>(keptAgents);
		this.#made.set(owner, made);
		const known = made.get(key);
		if (known !== undefined && known.model === model) return known.options;
		const options = await this.#make(stored, model, own);
		made.set(key, { model, options });
		return options;
	}

	/** Returns the model of an agent with other instructions, for requests outside of runs. */
	bound({ model, params, config, prices }: TurnOptions, system: System | undefined): EngineModel {
		const { agent } = this.#parts;
		const all = {
			config: config ?? agent.config,
			prices: prices ?? agent.prices,
			params: params ?? agent.params,
			model,
			system,
		};
		const given = Object.entries(all).filter(([, value]) => value !== undefined);
		return resolveAgent("trial", Object.fromEntries(given)).model();
	}

	/** Returns the model of that name. Rejects with `unknown_model`. */
	async model(name: string, own?: TurnOptions): Promise<NonNullable<AgentOptions["model"]>> {
		const { agent, models } = this.#parts;
		const usual = own?.model ?? agent.model;
		const model = name === modelIdOf(usual) ? usual : await models?.(name);
		if (model === undefined) throw unknownModel(name);
		return model;
	}

	/** @throws HoldfastError `tool_name_conflict` if two tools of a session have the same name. @internal */
	checkNames(tools: readonly StoredTool[], { tools: given }: TurnOptions = {}): void {
		const own = given === undefined ? this.#own : normaliseTools(given);
		const taken = tools.find((tool, index) => {
			const isDouble = tools.findIndex(({ name }) => name === tool.name) !== index;
			return isDouble || (tool.kind === "remote" && own.has(tool.name));
		});
		if (taken !== undefined) throw toolNameConflict(taken.name);
	}

	async #make(
		stored: SessionSetup,
		given: AgentOptions["model"],
		own: TurnOptions | undefined,
	): Promise<TurnOptions> {
		const { bound, checkedSchema = ownSchema } = this.#parts;
		const { instructions, ...more } = own ?? {};
		const prompt = more.system ?? instructions;
		const agent: AgentOptions = {
			...this.#parts.agent,
			...more,
			...(prompt === undefined ? {} : { system: prompt }),
		};
		const { systemPrompt, tools: kept, model: name, temperature, maxTokens } = stored;
		const model = given ?? (name === undefined ? agent.model : await this.model(name, own));
		if (model === undefined) throw modelMissing();
		const params = {
			...agent.params,
			...(temperature === undefined ? {} : { temperature }),
			...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
		};
		const system = systemPrompt ?? agent.system ?? agent.instructions;
		const tools = boundTools(kept, agent.tools, bound, checkedSchema);
		normaliseTools(tools);
		const { instructions: _, system: __, params: ___, tools: ____, ...shared } = agent;
		// An instance of `llm()` is replaced by its parts, of which those that the session has itself are not used.
		const whole = withoutInstance<AgentOptions>({
			...shared,
			model,
			...(tools.length === 0 ? {} : { tools }),
			...(system === undefined ? {} : { system }),
			...(Object.keys(params).length === 0 ? {} : { params }),
		});
		// An invalid agent is refused before it is stored.
		checkModel(whole);
		const changed = Object.entries(whole).filter(
			([name, value]) => value !== this.#parts.agent[name as keyof AgentOptions],
		);
		return { ...more, model: whole.model, tools, ...Object.fromEntries(changed) };
	}
}

function ownSchema({ parameters }: Pick<StoredTool, "parameters">): StoredTool["parameters"] {
	return parameters;
}
