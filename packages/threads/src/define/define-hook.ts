// `defineHook`: validates a hook of a project.
import type { HookDefinition, HookDefinitionOptions, HookName } from "../types/index.ts";
import { checkFunction, checkIsObject, checkNames, checkText } from "./check-fields.ts";
import { invalidDefinition, type Subject } from "./invalid-definition.ts";

/** All names of hooks. */
const hookNames: Readonly<Record<HookName, true>> = {
	after_thread_created: true,
	after_subagent_created: true,
	after_system_message: true,
	filter_messages: true,
	prefilter_llm_history: true,
	before_create_message: true,
	after_create_message: true,
	before_update_message: true,
	after_update_message: true,
	before_store_tool_result: true,
	after_tool_call_success: true,
	after_tool_call_failure: true,
};

const known = ["hook", "id", "execute"];

/**
 * Defines a hook: the default export of a file in `agents/hooks/`. It runs for the agents and prompts that declare its ID.
 *
 * @throws HoldfastError `invalid_definition`, naming the field
 */
export function defineHook<Name extends HookName, const Id extends string>(
	options: HookDefinitionOptions<Name, Id>,
): HookDefinition<Name, Id> {
	const subject: Subject = { kind: "hook", name: options?.id };
	checkIsObject(subject, options);
	checkNames(subject, options, known);
	if (!Object.hasOwn(hookNames, String(options.hook)))
		throw invalidDefinition(subject, "hook", `must be one of ${Object.keys(hookNames).join(", ")}`);
	checkText(subject, "id", options.id);
	if (!/^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(options.id))
		throw invalidDefinition(subject, "id", "must be in snake_case, such as keep_recent");
	checkFunction(subject, "execute", options.execute);
	return Object.freeze({ ...options });
}
