// What a client says, as a session takes it: a user's message, or answers to the calls that wait.
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

/** A message as the input of an execution. */
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
				throw new ContentTypeNotSupportedError("A part with a `url` must be a picture, `image/…`.");
			return { type: "image", image: content.value, mediaType };
		default:
			throw new RequestMalformedError("A part has no content.");
	}
}

/**
 * A message as answers to calls that wait: parts with data, `{ toolCallId, approved, reason?, input? }` or
 * `{ toolCallId, output, isError? }`, where the id may be left out of the only one. Text is the result of the only call.
 */
export function answersOf({ parts }: Message, pending: NonNullable<RunView["pending"]>): readonly object[] {
	const only = pending.length === 1 ? pending[0] : undefined;
	const given = parts.flatMap(({ content }) =>
		content?.$case === "data" && typeof content.value === "object" && content.value !== null
			? [content.value as Record<string, unknown>]
			: [],
	);
	if (given.length === 0) {
		if (only === undefined || only.approval === true) throw new RequestMalformedError(howToAnswer(pending));
		return [answerTo(only, { output: textOf(parts) }, pending)];
	}
	return given.map((answer) => {
		const call = answer.toolCallId === undefined ? only : pending.find(({ id }) => id === answer.toolCallId);
		if (call === undefined) throw new RequestMalformedError(howToAnswer(pending));
		return answerTo(call, answer, pending);
	});
}

type Pending = NonNullable<RunView["pending"]>;

function answerTo(
	{ id, runId, approval }: Pending[number],
	{ approved, reason, input, output, isError }: Record<string, unknown>,
	pending: Pending,
): object {
	const about = { toolCallId: id, ...(runId === undefined ? {} : { runId }) };
	if (approval === true) {
		if (typeof approved !== "boolean") throw new RequestMalformedError(howToAnswer(pending));
		const changed = input === undefined ? {} : { input };
		return {
			role: "approval",
			...about,
			approved,
			...changed,
			...(typeof reason === "string" ? { reason } : {}),
		};
	}
	if (output === undefined) throw new RequestMalformedError(howToAnswer(pending));
	return { role: "tool", ...about, output, ...(isError === true ? { isError } : {}) };
}

/** What a task says that waits. */
export function howToAnswer(pending: Pending): string {
	if (pending.length === 0) return "The task waits for a message.";
	const calls = pending.map(({ id, name, approval }) => {
		const wants = approval === true ? '"approved": true or false' : '"output": its result';
		return `${name}: {"toolCallId": ${JSON.stringify(id)}, ${wants}}`;
	});
	return `The task waits for a data part for each of: ${calls.join("; ")}.`;
}
