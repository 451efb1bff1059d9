// Validates the arguments of an execution on entry: a user's message or answers to tool calls, and options (keeps I9: an
// error names the invalid field).
import { cutText, HoldfastError } from "@holdfast/upp";
import type { InputPart, SendInput, ToolAnswer } from "../facts/index.ts";
import { plainDetails, plainJson } from "../tools/index.ts";
import { invalidInput } from "./execute-errors.ts";
import type { UserSessionMessage } from "./session-message.ts";

/** The input of an execution. */
export type ExecuteInput =
	| { readonly kind: "message"; readonly input: SendInput }
	| { readonly kind: "answers"; readonly answers: readonly ToolAnswer[] };

/** Options that the caller of an execution may set. */
export interface ChosenOptions {
	/** Name of a model. */
	readonly model?: string;
	/** The randomness of answers. Default: the agent's. */
	readonly temperature?: number;
	/** Maximum number of output tokens of an answer. Default: the agent's. */
	readonly maxTokens?: number;
}

/** A tool result or an approval, in the form that `execute` accepts. */
export type ToolAnswerMessage =
	| {
			readonly role: "tool";
			readonly toolCallId: string;
			/** The run that the answer is for. Default: the run that waits. */
			readonly runId?: string;
			readonly output: unknown;
			readonly isError?: boolean;
			readonly details?: unknown;
	  }
	| {
			readonly role: "approval";
			readonly toolCallId: string;
			/** The run that the answer is for. Default: the run that waits. */
			readonly runId?: string;
			readonly approved: boolean;
			readonly reason?: string;
			/** Replaces the shown input; only for a call with `mayEdit`. */
			readonly input?: Readonly<Record<string, unknown>>;
	  };

/**
 * A user's message, in the form that `execute` accepts. Images and files are bytes, base64 text or URLs; nothing is
 * fetched.
 */
export interface UserInputMessage extends Omit<UserSessionMessage, "content"> {
	/** Text, or a list of parts. */
	readonly content: string | readonly InputPart[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Validates the input of an execution.
 * @throws HoldfastError `invalid_input` naming the field.
 */
export function readInput(given: unknown): ExecuteInput {
	if (Array.isArray(given)) {
		if (given.length === 0) throw invalidInput("input", "is an empty array");
		return { kind: "answers", answers: given.map((each, index) => readAnswer(each, `input[${index}]`)) };
	}
	if (typeof given === "string") return { kind: "message", input: readText(given, "input") };
	if (!isRecord(given)) throw invalidInput("input", "must be a user message or an array of tool results");
	if (given.role !== "user") throw invalidInput("input.role", 'must be "user"');
	return { kind: "message", input: readContent(given.content, "input.content") };
}

const knownOptions: ReadonlySet<string> = new Set(["model", "temperature", "maxTokens"]);

/**
 * Validates the options of an execution.
 * @throws HoldfastError `invalid_input` naming the field, `forbidden_option` for options that only the server may set.
 */
export function readOptions(given: unknown): ChosenOptions {
	if (given === undefined || given === null) return {};
	if (!isRecord(given)) throw invalidInput("options", "must be an object");
	for (const name of Object.keys(given)) {
		if (knownOptions.has(name)) continue;
		throw new HoldfastError(
			"forbidden_option",
			`The option ${JSON.stringify(cutText(name, 50))} cannot be set by clients. They can set: ${[...knownOptions].join(", ")}.`,
		);
	}
	const { model, temperature, maxTokens } = given;
	if (model !== undefined && typeof model !== "string") throw invalidInput("options.model", "must be a name");
	return {
		...(model === undefined ? {} : { model }),
		...readNumber("temperature", temperature, 0),
		...readNumber("maxTokens", maxTokens, 1),
	};
}

function readNumber(name: string, given: unknown, least: number): Record<string, number> {
	if (given === undefined) return {};
	if (typeof given === "number" && Number.isFinite(given) && given >= least) return { [name]: given };
	throw invalidInput(`options.${name}`, `must be a number from ${least}`);
}

const membersOfApproval: ReadonlySet<string> = new Set([
	"role",
	"toolCallId",
	"runId",
	"approved",
	"reason",
	"input",
]);
/** Includes the members of a tool message that a client returns as it received it. */
const membersOfResult: ReadonlySet<string> = new Set([
	"role",
	"toolCallId",
	"toolName",
	"runId",
	"output",
	"isError",
	"details",
	"timestamp",
]);

function readAnswer(given: unknown, field: string): ToolAnswer {
	if (!isRecord(given)) throw invalidInput(field, "must be a tool result");
	const { role, toolCallId, runId, output, isError, details, approved, reason, input } = given;
	const known = role === "approval" ? membersOfApproval : membersOfResult;
	const unknown = Object.keys(given).find((name) => !known.has(name));
	if (unknown !== undefined) throw invalidInput(`${field}.${cutText(unknown, 50)}`, "is not known");
	if (typeof toolCallId !== "string" || toolCallId === "")
		throw invalidInput(`${field}.toolCallId`, "must be the id of a tool call");
	if (runId !== undefined && typeof runId !== "string")
		throw invalidInput(`${field}.runId`, "must be the id of a run");
	const about = { toolCallId, ...(runId === undefined ? {} : { runId }) };
	if (role === "approval") {
		if (typeof approved !== "boolean") throw invalidInput(`${field}.approved`, "must be true or false");
		if (reason !== undefined && typeof reason !== "string")
			throw invalidInput(`${field}.reason`, "must be text");
		if (input !== undefined && !isRecord(input)) throw invalidInput(`${field}.input`, "must be an object");
		return {
			...about,
			approved,
			...(reason === undefined ? {} : { reason }),
			...(input === undefined ? {} : { input }),
		};
	}
	if (role !== "tool") throw invalidInput(`${field}.role`, 'must be "tool" or "approval"');
	if (output === undefined) throw invalidInput(`${field}.output`, "is missing");
	if (isError !== undefined && typeof isError !== "boolean")
		throw invalidInput(`${field}.isError`, "must be true or false");
	return {
		...about,
		output: readOutput(output, `${field}.output`),
		...(isError === undefined ? {} : { isError }),
		...(details === undefined ? {} : { details: plainDetails(details) }),
	};
}

function readOutput(given: unknown, field: string): unknown {
	try {
		return plainJson(given);
	} catch {
		throw invalidInput(field, "cannot be written as JSON");
	}
}

function readContent(given: unknown, field: string): SendInput {
	if (typeof given === "string") return readText(given, field);
	if (!Array.isArray(given) || given.length === 0)
		throw invalidInput(field, "must be text or an array of parts");
	return given.map((part, index) => readPart(part, `${field}[${index}]`));
}

function readPart(given: unknown, field: string): InputPart {
	if (!isRecord(given)) throw invalidInput(field, "must be a part");
	const { type, text, image, data, mediaType, filename } = given;
	if (type === "text" && typeof text === "string") return { type, text: readText(text, `${field}.text`) };
	if (type === "image" && isMedia(image))
		return { type, image, ...(typeof mediaType === "string" ? { mediaType } : {}) };
	if (type === "file" && isMedia(data) && typeof mediaType === "string")
		return { type, data, mediaType, ...(typeof filename === "string" ? { filename } : {}) };
	throw invalidInput(
		field,
		"must be {type: text, text}, {type: image, image} or {type: file, data, mediaType}",
	);
}

/** Whether the value is base64 text, a URL or, within the process, bytes. */
function isMedia(given: unknown): given is string | Uint8Array | URL {
	return typeof given === "string" || given instanceof Uint8Array || given instanceof URL;
}

function readText(given: string, field: string): string {
	if (given === "") throw invalidInput(field, "is empty");
	return given;
}

function isRecord(given: unknown): given is Fields {
	return typeof given === "object" && given !== null && !Array.isArray(given);
}
