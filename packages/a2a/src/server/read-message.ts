// Converts a client's message to the input of a session: a user message, or answers to pending calls.
import { type Message, type Part, Role } from "@a2a-js/sdk";
import { ContentTypeNotSupportedError, RequestMalformedError } from "@a2a-js/sdk/errors";
import type { RunView } from "@holdfast/server";
import { textOf } from "../parts.ts";

/** @throws RequestMalformedError, ContentTypeNotSupportedError. */
export function readMessage(message: Message | undefined): Message {
	if (message === undefined) throw new RequestMalformedError("`message` is missing.");
	const { messageId, role, parts } = message;
	if (messageId === "" || messageId.length > 200)
		throw new RequestMalformedError("`message.messageId` must be an id of at most 200 characters.");
	if (role !== Role.ROLE_USER) throw new RequestMalformedError("`message.role` must be ROLE_USER.");
	if (parts.length === 0) throw new RequestMalformedError("`message.parts` is empty.");
	return message;
}

/** Converts a message to the input of an execution. */
export function inputOf({ parts }: Message): object {
	return { role: "user", content: parts.map(partOf) };
}

function partOf({ content, mediaType, filename }: Part): object {
	const named = filename === "" ? {} : { filename };
	switch (content?.$case) {
		case "text":
			if (content.value === "") throw new RequestMalformedError("A part has an empty text.");
			return { type: "text", text: content.value };
		case "data":
			return { type: "text", text: JSON.stringify(content.value ?? null) };
		case "raw": {
			if (mediaType === "") throw new ContentTypeNotSupportedError("A part with bytes has no `mediaType`.");
			return { type: "file", data: content.value.toString("base64"), mediaType, ...named };
		}
		case "url":
			if (!mediaType.startsWith("image/"))
				throw new ContentTypeNotSupportedError("A part with a `url` must be an image, `image/…`.");
			return { type: "image", image: content.value, mediaType };
		default:
			throw new RequestMalformedError("A part has no content.");
	}
}

/**
 * Converts a message to answers to waiting calls: parts with data, `{ toolCallId, approved, reason?, input? }` or `{
 * toolCallId, output, isError? }`. The id may be omitted if only one call waits; text is then its result.
 */
export function answersOf({ parts }: Message, pending: NonNullable<RunView["pending"]>): readonly object[] {
	const only = pending.length === 1 ? pending[0] : undefined;
	if (parts.every(({ content }) => content?.$case === "text")) {
		if (only === undefined || only.approval === true) throw new RequestMalformedError(howToAnswer(pending));
		return [answerTo(only, { output: textOf(parts) }, pending)];
	}
	return parts.map(({ content }) => {
		if (content?.$case !== "data" || !isObject(content.value))
			throw new RequestMalformedError(
				`Only a data part that contains an object can answer a call. ${howToAnswer(pending)}`,
			);
		const answer = content.value;
		const call = answer.toolCallId === undefined ? only : pending.find(({ id }) => id === answer.toolCallId);
		if (call === undefined) throw new RequestMalformedError(howToAnswer(pending));
		return answerTo(call, answer, pending);
	});
}

type Pending = NonNullable<RunView["pending"]>;

/** The members of an answer. */
const membersOf = {
	approval: ["toolCallId", "approved", "reason", "input"],
	result: ["toolCallId", "output", "isError"],
} as const;

function answerTo(
	{ id, runId, approval }: Pending[number],
	answer: Record<string, unknown>,
	pending: Pending,
): object {
	const { approved, reason, input, output, isError } = answer;
	const members: readonly string[] = membersOf[approval === true ? "approval" : "result"];
	const unknown = Object.keys(answer).find((name) => !members.includes(name));
	if (unknown !== undefined)
		throw new RequestMalformedError(
			`An answer to the call ${JSON.stringify(id)} has no member ${JSON.stringify(unknown)}. Its members are: ${members.join(", ")}.`,
		);
	const about = { toolCallId: id, ...(runId === undefined ? {} : { runId }) };
	if (approval === true) {
		if (typeof approved !== "boolean") throw new RequestMalformedError(howToAnswer(pending));
		if (reason !== undefined && typeof reason !== "string")
			throw new RequestMalformedError("`reason` must be text.");
		const changed = input === undefined ? {} : { input };
		const why = reason === undefined ? {} : { reason };
		return { role: "approval", ...about, approved, ...changed, ...why };
	}
	if (output === undefined) throw new RequestMalformedError(howToAnswer(pending));
	if (isError !== undefined && typeof isError !== "boolean")
		throw new RequestMalformedError("`isError` must be true or false.");
	return { role: "tool", ...about, output, ...(isError === true ? { isError } : {}) };
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the message of a waiting task, which explains how to answer. */
export function howToAnswer(pending: Pending): string {
	if (pending.length === 0) return "The task waits for a message.";
	const calls = pending.map(({ id, name, approval }) => {
		const wants = approval === true ? '"approved": true or false' : '"output": its result';
		return `${name}: {"toolCallId": ${JSON.stringify(id)}, ${wants}}`;
	});
	return `The task waits for a data part for each of: ${calls.join("; ")}.`;
}
