// Rules of OpenAI's Responses API.
import { eachOf, firstOf, type Json, parametersFault } from "./json-rules.fixture.ts";

export function responsesFault(body: Json): string | undefined {
	return firstOf(
		() => eachOf(body.tools, toolFault),
		() => (body.input?.length > 0 ? undefined : "there is no input"),
		() => eachOf(body.input, itemFault),
		() => callsFault(body.input),
		() => strictFault(body.text?.format),
	);
}

function toolFault(tool: Json, index: number): string | undefined {
	if (tool.type !== "function") return undefined;
	if (!/^[a-zA-Z0-9_-]{1,64}$/.test(tool.name)) return `tools[${index}].name is ${JSON.stringify(tool.name)}`;
	return parametersFault(tool.parameters, `tools[${index}].parameters`);
}

function itemFault(item: Json, index: number): string | undefined {
	if (item.role === undefined) return undefined;
	const { content } = item;
	if (typeof content === "string") return undefined;
	if (!Array.isArray(content) || content.length === 0) return `input[${index}].content is empty`;
	return undefined;
}

function callsFault(input: readonly Json[]): string | undefined {
	const called = new Set<string>();
	const answered = new Set<string>();
	for (const [index, { type, call_id: id, name }] of input.entries()) {
		if (type === "function_call") {
			if (typeof id !== "string" || id.length === 0 || id.length > 64)
				return `input[${index}].call_id is ${id}`;
			if (called.has(id)) return `input[${index}].call_id is used twice: ${id}`;
			if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return `input[${index}].name is ${JSON.stringify(name)}`;
			called.add(id);
		}
		if (type === "function_call_output") {
			if (!called.has(id)) return `input[${index}]: no call ${id} comes before its output`;
			answered.add(id);
		}
	}
	const open = [...called].filter((id) => !answered.has(id));
	return open.length > 0 ? `no tool output for the calls ${open}` : undefined;
}

/** A strict format closes its objects and requires all their properties. */
function strictFault(format: Json | undefined): string | undefined {
	if (format?.type !== "json_schema") return undefined;
	if (!/^[a-zA-Z0-9_-]{1,64}$/.test(format.name)) return `text.format.name is ${JSON.stringify(format.name)}`;
	return format.strict === true ? closedFault(format.schema, "text.format.schema", true) : undefined;
}

const unsupported = ["allOf", "not", "if", "then", "else", "dependentRequired", "patternProperties", "oneOf"];

function closedFault(schema: unknown, at: string, isRoot = false): string | undefined {
	if (typeof schema !== "object" || schema === null) return `${at} is no schema`;
	const given = schema as Json;
	if (isRoot && given.type !== "object") return `${at} must be of the type object`;
	const keyword = unsupported.find((name) => given[name] !== undefined);
	if (keyword !== undefined) return `${at} has ${keyword}`;
	const keys = Object.keys(given).filter(
		(name) => !["description", "title", "default", "$schema", "$defs"].includes(name),
	);
	if (keys.length === 0) return `${at} has no type`;
	if (given.type === "object") {
		if (given.additionalProperties !== false) return `${at}.additionalProperties must be false`;
		const names = Object.keys(given.properties ?? {});
		const missing = names.find((name) => !given.required?.includes(name));
		if (missing !== undefined) return `${at}.required must contain ${missing}`;
	}
	for (const map of ["properties", "$defs", "definitions"]) {
		for (const [name, inner] of Object.entries(given[map] ?? {})) {
			const fault = closedFault(inner, `${at}.${name}`);
			if (fault !== undefined) return fault;
		}
	}
	if (given.items !== undefined) return closedFault(given.items, `${at}.items`);
	return eachOf(given.anyOf as unknown[] | undefined, (inner, index) =>
		closedFault(inner, `${at}.anyOf.${index}`),
	);
}
