// `definePrompt`: validates a prompt of a project.
import type { PromptDefinition, ToolArgs } from "../types/index.ts";
import {
	checkChoice,
	checkIsObject,
	checkKind,
	checkName,
	checkNames,
	checkText,
	checkTexts,
	checkTextsByName,
	checkVariables,
	isRecord,
} from "./check-fields.ts";
import { checkSchema } from "./check-schema.ts";
import { invalidDefinition, type Subject } from "./invalid-definition.ts";

const known = [
	"name",
	"toolDescription",
	"prompt",
	"model",
	"includeChat",
	"includePastTools",
	"parallelToolCalls",
	"toolChoice",
	"requiredSchema",
	"variables",
	"tools",
	"env",
	"recentImageThreshold",
	"providerOptions",
	"reasoning",
	"hooks",
];

/**
 * Defines a prompt: the default export of a file in `agents/prompts/`.
 *
 * @throws HoldfastError `invalid_definition`, naming the field
 */
export function definePrompt<const Name extends string, Schema extends ToolArgs = never>(
	options: PromptDefinition<Name, Schema>,
): PromptDefinition<Name, Schema> {
	const subject: Subject = { kind: "prompt", name: options?.name };
	checkIsObject(subject, options);
	checkNames(subject, options, known);
	checkName(subject, options.name);
	checkText(subject, "toolDescription", options.toolDescription);
	checkContent(subject, options.prompt);
	checkText(subject, "model", options.model);
	checkKind(subject, options, "flag", ["includeChat", "includePastTools", "parallelToolCalls"]);
	checkKind(subject, options, "object", ["providerOptions", "reasoning"]);
	checkChoice(subject, "toolChoice", options.toolChoice, ["auto", "none", "required"]);
	if (options.requiredSchema !== undefined) checkSchema(subject, "requiredSchema", options.requiredSchema);
	checkVariables(subject, options.variables);
	checkTools(subject, options.tools);
	checkTextsByName(subject, "env", options.env);
	checkTexts(subject, "hooks", options.hooks);
	const images: unknown = options.recentImageThreshold;
	if (images !== undefined && !(Number.isSafeInteger(images) && (images as number) >= 0))
		throw invalidDefinition(subject, "recentImageThreshold", "must be a whole number, 0 or more");
	return Object.freeze({ ...options });
}

function checkContent(subject: Subject, content: unknown): void {
	if (!Array.isArray(content)) {
		checkText(subject, "prompt", content);
		return;
	}
	if (content.length === 0) throw invalidDefinition(subject, "prompt", "is missing or empty");
	const member = { text: "content", include: "prompt", env: "property" } as const;
	for (const [at, part] of content.entries()) {
		const field = `prompt[${at}]`;
		if (!isRecord(part)) throw invalidDefinition(subject, field, "must be an object with a `type`");
		if (!Object.hasOwn(member, part.type as string))
			throw invalidDefinition(subject, `${field}.type`, "must be one of text, include, env");
		const name = member[part.type as keyof typeof member];
		if (name === "content" && part.content === "") continue;
		checkText(subject, `${field}.${name}`, part[name]);
	}
}

function checkTools(subject: Subject, tools: unknown): void {
	if (tools === undefined) return;
	if (!Array.isArray(tools)) throw invalidDefinition(subject, "tools", "must be a list");
	for (const [at, tool] of tools.entries()) {
		if (isRecord(tool)) checkText(subject, `tools[${at}].name`, tool.name);
		else checkText(subject, `tools[${at}]`, tool);
	}
}
