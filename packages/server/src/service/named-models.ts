// The models that a service has registered by name.
import { HoldfastTypeError } from "@holdfast/upp";
import type { AgentOptions } from "holdfast";
import type { NamedModels } from "./service-types.ts";

/** The option in its resolved form. */
export interface KnownModels {
	/** Returns the model with a name, or undefined. */
	readonly find: ((name: string) => AgentOptions["model"] | Promise<AgentOptions["model"]>) | undefined;
	/** Absent if they cannot be listed. */
	readonly names: readonly string[] | undefined;
}

/** @throws HoldfastError `invalid_option` if the option is neither models by name nor a function. */
export function knownModels(models: NamedModels | undefined): KnownModels {
	if (models === undefined) return { find: undefined, names: [] };
	if (typeof models === "function") return { find: models, names: undefined };
	if (typeof models !== "object" || models === null || Array.isArray(models))
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `models` must be an object with models by name, or a function that returns the model of a name.",
		);
	const missing = Object.entries(models).find(([, model]) => model === undefined || model === null);
	if (missing !== undefined)
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`models\` has no model under ${JSON.stringify(missing[0])}.`,
		);
	return {
		find: (name) => (Object.hasOwn(models, name) ? models[name] : undefined),
		names: Object.keys(models),
	};
}
