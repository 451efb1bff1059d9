// The option `prepareStep`: changes to single model calls. The code that checks and converts them is loaded with the first call.
import { HoldfastError, isThenable, type System } from "@holdfast/upp";
import type { EngineAgent, EngineModel, StepToPrepare } from "../engine/index.ts";
import type { KnownTools, ToolSet } from "../tools/index.ts";
import { hasOwnTools } from "./llm-instance.ts";
import type { AgentOptions } from "./options.ts";
import type { StepReader } from "./read-step.ts";
import type { AgentToolChoice } from "./tool-choice.ts";

/** The tool names that the compiler knows; any other text is accepted too, for tools of plugins, sub-agents and MCP. */
type ToolName<Tools> = KnownTools<Tools>["name"] | (string & Record<never, never>);

/** The changes to one model call. Members that are absent or undefined keep the agent's value. */
export interface StepChanges<Tools extends ToolSet = ToolSet> {
	/**
	 * A reference created by a provider, or an AI SDK model. The agent's `config` applies to it, but its `apiKey`,
	 * `baseUrl`, `headers` and `fetch` only if both models have the same provider.
	 */
	readonly model?: Exclude<AgentOptions["model"], ((...given: never) => unknown) | { generate: unknown }>;
	/** The system prompt, text or parts, in place of the agent's. */
	readonly instructions?: System | undefined;
	/**
	 * Names of the only tools that the model sees and may call, in the agent's order. A call of any other tool is
	 * rejected like that of an unknown one. Has no effect on calls for which the strategy withholds all tools.
	 */
	readonly activeTools?: readonly ToolName<Tools>[] | undefined;
	/** Whether the model may, must or must not call tools. Has no effect on calls without tools. */
	readonly toolChoice?: AgentToolChoice | undefined;
	/** Parameters of the model in addition to the agent's, and in place of those with the same name. */
	readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Returns the changes to a model call, or nothing. If it throws, the run fails with its error; if it returns something
 * that cannot be used, such as an unknown tool or option, the run fails with `invalid_step` before anything is sent.
 */
export type PrepareStep<Tools extends ToolSet = ToolSet> = (
	step: StepToPrepare,
	// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing changes nothing
) => StepChanges<Tools> | undefined | void | Promise<StepChanges<Tools> | undefined | void>;

/** The agent's own parts, which the changes are compared with. */
export interface OwnParts extends Pick<EngineAgent, "tools" | "fingerprint"> {
	readonly system: System | undefined;
	/** Binds the model of these options. */
	bind(options: AgentOptions): EngineModel;
}

/**
 * Returns the engine's form of the option.
 * @throws HoldfastError `conflicting_options` if the model runs its own steps.
 */
export function preparing(options: AgentOptions, own: OwnParts): NonNullable<EngineAgent["prepare"]> {
	const { model, prepareStep } = options;
	if (hasOwnTools(model))
		throw new HoldfastError(
			"conflicting_options",
			"`prepareStep` is given, and `model` is a function or an instance, which has its own settings. Remove `prepareStep`.",
		);
	let reader: StepReader | undefined;
	return async (about, tools, head) => {
		const returned: unknown = prepareStep?.(about);
		const given = isThenable(returned) ? await returned : returned;
		if (given === undefined) return undefined;
		if (reader === undefined) {
			const { StepReader } = await import("./read-step.ts");
			reader = new StepReader(options, own);
		}
		return reader.read(given, tools, head);
	};
}
