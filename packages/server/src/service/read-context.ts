// The context of a new session from a client, validated on entry (keeps I9: a refusal names its field). Its messages are
// validated when they are used. Its tools are the client's: always remote.
import { cutText } from "@holdfast/upp";
import type { SessionContext, StoredTool } from "holdfast/execute";
import { invalidInput } from "./client-errors.ts";
import { withoutPatterns } from "./client-schema.ts";

const contextMembers: ReadonlySet<string> = new Set(["systemPrompt", "messages", "tools"]);

/**
 * Reads a context.
 * @throws HoldfastError `invalid_input` naming the field.
 */
export function readContext(given: unknown): SessionContext {
	if (!isRecord(given)) throw invalidInput("context", "must be an object");
	// A misspelt field would be ignored silently.
	const unknown = Object.keys(given).find((name) => !contextMembers.has(name));
	if (unknown !== undefined)
		throw invalidInput(
			"context",
			`has a member ${JSON.stringify(cutText(unknown, 50))} that is unknown. Known members: ${[...contextMembers].join(", ")}`,
		);
	const { systemPrompt, messages = [], tools = [] } = given;
	if (systemPrompt !== undefined && typeof systemPrompt !== "string")
		throw invalidInput("context.systemPrompt", "must be text");
	if (!Array.isArray(messages)) throw invalidInput("context.messages", "must be an array");
	if (!Array.isArray(tools)) throw invalidInput("context.tools", "must be an array");
	return {
		...(systemPrompt === undefined ? {} : { systemPrompt }),
		messages,
		tools: tools.map((tool, index) => readTool(tool, `context.tools[${index}]`)),
	};
}

function readTool(given: unknown, field: string): StoredTool {
	if (!isRecord(given)) throw invalidInput(field, "must be a tool");
	const { name, label, description = "", inputSchema } = given;
	// Tools of the AI SDK and of MCP have their schema under this name.
	const { parameters = inputSchema ?? { type: "object" } } = given;
	if (typeof name !== "string" || !/^[\w.-]{1,64}$/.test(name))
		throw invalidInput(`${field}.name`, "must be a name of up to 64 letters, digits, `_`, `.` and `-`");
	if (typeof description !== "string") throw invalidInput(`${field}.description`, "must be text");
	if (!isRecord(parameters)) throw invalidInput(`${field}.parameters`, "must be a JSON Schema");
	withoutPatterns(parameters, `${field}.parameters`);
	return { name, description, parameters, kind: "remote", ...(typeof label === "string" ? { label } : {}) };
}

function isRecord(given: unknown): given is Readonly<Record<string, unknown>> {
	return typeof given === "object" && given !== null && !Array.isArray(given);
}
