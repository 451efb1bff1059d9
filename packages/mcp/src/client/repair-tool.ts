// Reads one tool of a server's list at a time: valid parts are unchanged, safely repairable ones are repaired, and other
// tools are omitted with a warning. A tool with an uncertain meaning is omitted.
import { type JSONSchema, repairSchema } from "@holdfast/upp";

/** Called for each tool that is omitted. */
export type LeftOut = (tool: string, reason: string) => void;

type Members = Record<string, unknown>;

/** Returns the result of `tools/list` with only the usable tools. */
export function repairTools(result: unknown, leftOut: LeftOut): unknown {
	if (!isMembers(result) || !Array.isArray(result.tools)) return result;
	const listed: readonly unknown[] = result.tools;
	const tools = listed.flatMap((given, index) => {
		const name = isMembers(given) && typeof given.name === "string" ? given.name : "";
		try {
			return [repairTool(given)];
		} catch (error) {
			leftOut(name === "" ? `number ${index + 1} of its list` : name, (error as Error).message);
			return [];
		}
	});
	const { nextCursor } = result;
	const isSame = tools.length === listed.length && tools.every((tool, index) => tool === listed[index]);
	const isCursor = nextCursor === undefined || typeof nextCursor === "string";
	if (isSame && isCursor) return result;
	const { nextCursor: _, ...rest } = result;
	return { ...rest, tools, ...(typeof nextCursor === "string" ? { nextCursor } : {}) };
}

function repairTool(given: unknown): Members {
	if (!isMembers(given)) throw new Error("it is not an object");
	if (typeof given.name !== "string" || given.name.trim() === "") throw new Error("it has no name");
	const tool = { ...given };
	for (const name of ["title", "description"]) if (typeof tool[name] !== "string") delete tool[name];
	for (const name of ["_meta", "execution"]) if (!isMembers(tool[name])) delete tool[name];
	const annotations = annotationsOf(tool.annotations);
	if (annotations === undefined) delete tool.annotations;
	else tool.annotations = annotations;
	delete tool.icons; // not displayed anywhere, and written in many ways
	tool.inputSchema = inputSchemaOf(given.inputSchema);
	if (!isReadable(tool.outputSchema)) delete tool.outputSchema;
	const isSame =
		Object.keys(given).length === Object.keys(tool).length &&
		Object.entries(tool).every(([name, value]) => value === given[name]);
	return isSame ? given : tool;
}

const hints = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

function annotationsOf(given: unknown): Members | undefined {
	if (!isMembers(given)) return undefined;
	const wrong = Object.entries(given).filter(([name, value]) =>
		name === "title" ? typeof value !== "string" : hints.includes(name) && typeof value !== "boolean",
	);
	if (wrong.length === 0) return given;
	const made = { ...given };
	for (const [name] of wrong) delete made[name];
	return made;
}

/** Returns the given schema if the client accepts it. Arguments are always an object. */
function inputSchemaOf(given: unknown): unknown {
	if (isReadable(given)) return given;
	if (isMembers(given)) {
		const { type } = given;
		const mayBeObject = type === undefined || type === null || [type].flat().includes("object");
		if (!mayBeObject) throw new Error(`its inputSchema is of the type ${JSON.stringify(type)}`);
		return { ...repairSchema(given), type: "object" };
	}
	// PHP encodes an empty object as a list.
	const isEmpty = given === undefined || given === null || (Array.isArray(given) && given.length === 0);
	if (isEmpty) return { type: "object", properties: {} };
	throw new Error("its inputSchema is not a schema");
}

/** Whether the official client can read a schema. */
function isReadable(schema: unknown): schema is JSONSchema {
	if (!isMembers(schema) || schema.type !== "object") return false;
	const { properties, required } = schema;
	if (properties !== undefined) {
		if (!isMembers(properties)) return false;
		if (!Object.values(properties).every((each) => typeof each === "boolean" || isMembers(each)))
			return false;
	}
	return (
		required === undefined || (Array.isArray(required) && required.every((each) => typeof each === "string"))
	);
}

function isMembers(value: unknown): value is Members {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
