// `defineTool`: a tool of a project, and the names that tools may have.
import { cutText, HoldfastError } from "@holdfast/upp";
import type { DefineToolOptions, ThreadState, ToolArgs, ToolDefinition, ToolTenvs } from "../types/index.ts";
import {
	checkChoice,
	checkFunction,
	checkIsObject,
	checkKind,
	checkNames,
	checkText,
	checkTexts,
	checkVariables,
} from "./check-fields.ts";
import { checkSchema } from "./check-schema.ts";
import type { Subject } from "./invalid-definition.ts";

const known = [
	"description",
	"args",
	"execute",
	"tenvs",
	"variables",
	"uses",
	"executionMode",
	"executionProvider",
];

/**
 * Defines a tool: the default export of a file in `agents/tools/`. The file's name is the tool's name.
 *
 * @throws HoldfastError `invalid_definition`, naming the field, for an argument its path
 */
export function defineTool<
	Args extends ToolArgs | null = null,
	Tenvs extends ToolTenvs | null = null,
	const Uses extends readonly string[] | undefined = undefined,
>(options: DefineToolOptions<ThreadState, Args, Tenvs, Uses>): ToolDefinition<ThreadState, Args, Tenvs> {
	const subject: Subject = { kind: "tool" };
	checkIsObject(subject, options);
	checkNames(subject, options, known);
	checkText(subject, "description", options.description);
	checkFunction(subject, "execute", options.execute);
	if (options.args !== undefined && options.args !== null) checkSchema(subject, "args", options.args);
	if (options.tenvs !== undefined && options.tenvs !== null) checkSchema(subject, "tenvs", options.tenvs);
	checkVariables(subject, options.variables);
	checkTexts(subject, "uses", options.uses);
	checkKind(subject, options, "text", ["executionProvider"]);
	checkChoice(subject, "executionMode", options.executionMode, ["local", "provider"]);
	return Object.freeze({
		...options,
		args: (options.args ?? null) as Args,
		tenvs: (options.tenvs ?? null) as Tenvs,
		execute: options.execute as ToolDefinition["execute"],
		variables: options.variables ?? [],
		uses: options.uses,
		executionMode: options.executionMode ?? "local",
	});
}

/**
 * Refuses a name that a tool cannot have. A name has at most 64 letters, digits, `_` and `-`, and does not start with a
 * digit.
 *
 * @throws HoldfastError `invalid_tool_name`
 */
export function validateToolName(name: string): void {
	if (typeof name === "string" && /^[A-Za-z_-][A-Za-z0-9_-]{0,63}$/.test(name)) return;
	const why = /^(?:provider|mcp):/.test(String(name))
		? "The prefixes `provider:` and `mcp:` are reserved."
		: "A name consists of at most 64 letters, digits, `_` and `-`, and does not start with a digit.";
	throw new HoldfastError(
		"invalid_tool_name",
		`A tool cannot be named "${cutText(String(name), 100)}". ${why}`,
		{
			data: { name: cutText(String(name), 100) },
		},
	);
}
