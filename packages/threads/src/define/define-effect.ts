// `defineEffect`: validates an effect of a project.
import type { Effect, EffectDefinition, ThreadState, ToolArgs } from "../types/index.ts";
import { checkFunction, checkText } from "./check-fields.ts";
import { checkSchema } from "./check-schema.ts";
import type { Subject } from "./invalid-definition.ts";

const subject: Subject = { kind: "effect" };

/** Defines an effect without arguments. */
export function defineEffect(
	description: string,
	handler: Effect<ThreadState>,
): EffectDefinition<ThreadState, null>;
/**
 * Defines an effect: the default export of a file in `agents/effects/`. The file's name is the effect's name.
 *
 * @throws HoldfastError `invalid_definition`, naming the field
 */
export function defineEffect<Args extends ToolArgs>(
	description: string,
	schema: Args,
	handler: Effect<ThreadState, Args>,
): EffectDefinition<ThreadState, Args>;
export function defineEffect(
	description: string,
	...rest: readonly [unknown] | readonly [unknown, unknown]
): EffectDefinition {
	const [schema, handler] = rest.length === 1 ? [null, rest[0]] : rest;
	checkText(subject, "description", description);
	if (schema !== null && schema !== undefined) checkSchema(subject, "schema", schema);
	checkFunction(subject, "handler", handler);
	return Object.freeze({
		description,
		schema: (schema ?? null) as ToolArgs | null,
		handler: handler as EffectDefinition["handler"],
	});
}
