// `defineAgent`: validates an agent of a project.
import type { AgentDefinition, SideConfig } from "../types/index.ts";
import {
	checkChoice,
	checkCount,
	checkIsObject,
	checkKind,
	checkName,
	checkNames,
	checkText,
	checkTexts,
	checkTextsByName,
	isRecord,
} from "./check-fields.ts";
import { invalidDefinition, type Subject } from "./invalid-definition.ts";

const known = [
	"name",
	"type",
	"sideA",
	"sideB",
	"maxSessionTurns",
	"exposeAsTool",
	"toolDescription",
	"title",
	"description",
	"icon",
	"env",
	"hooks",
	"packageName",
	"version",
	"author",
	"license",
];
const knownOfSide = [
	"prompt",
	"label",
	"stopOnResponse",
	"stopTool",
	"stopToolResponseProperty",
	"maxSteps",
	"sessionStop",
	"sessionFail",
	"sessionStatus",
];

/**
 * Defines an agent: the default export of a file in `agents/agents/`.
 *
 * @throws HoldfastError `invalid_definition`, naming the field
 */
export function defineAgent<const Name extends string>(
	options: AgentDefinition<Name, StandardAgentSpec.Prompts, StandardAgentSpec.Callables>,
): AgentDefinition<Name> {
	const subject: Subject = { kind: "agent", name: options?.name };
	checkIsObject(subject, options);
	checkNames(subject, options, known);
	checkName(subject, options.name);
	checkChoice(subject, "type", options.type, ["ai_human", "dual_ai"]);
	checkSide(subject, "sideA", options.sideA);
	if (options.type === "dual_ai" || options.sideB !== undefined) checkSide(subject, "sideB", options.sideB);
	checkCount(subject, "maxSessionTurns", options.maxSessionTurns);
	checkKind(subject, options, "flag", ["exposeAsTool"]);
	checkKind(subject, options, "text", [
		"toolDescription",
		"title",
		"description",
		"icon",
		"packageName",
		"version",
		"author",
		"license",
	]);
	if (options.exposeAsTool === true) checkText(subject, "toolDescription", options.toolDescription);
	checkTextsByName(subject, "env", options.env);
	checkTexts(subject, "hooks", options.hooks);
	return Object.freeze({ ...options, type: options.type ?? "ai_human" });
}

function checkSide(subject: Subject, field: string, side: SideConfig | undefined): void {
	if (side === undefined || side === null) throw invalidDefinition(subject, field, "is missing");
	if (!isRecord(side)) throw invalidDefinition(subject, field, "must be an object");
	checkNames(subject, side, knownOfSide, `${field}.`);
	checkText(subject, `${field}.prompt`, side.prompt);
	checkCount(subject, `${field}.maxSteps`, side.maxSteps);
	for (const member of ["sessionStop", "sessionFail", "sessionStatus"] as const) {
		const binding: unknown = side[member];
		if (binding === undefined) continue;
		if (isRecord(binding)) checkText(subject, `${field}.${member}.name`, binding.name);
		else checkText(subject, `${field}.${member}`, binding);
	}
	if (side.stopTool !== undefined) checkText(subject, `${field}.stopTool`, side.stopTool);
}
