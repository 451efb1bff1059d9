// Translates a page's repeated request to the session: an edited message replaces the one with its id, and a message to
// be answered again is repeated as the session has it. The page's version of the history is ignored (keeps I2).
import type { SessionMessage } from "holdfast";
import { HoldfastError } from "holdfast";
import type { ExecuteRequest } from "../service/index.ts";
import type { GivenMessage } from "./chat-request.ts";
import { answerIdOf, isIdOfPlace } from "./ui-chunk.ts";

type Asked = Pick<ExecuteRequest, "input" | "messageId" | "insteadOf">;

/**
 * Returns the request for a message. `messages` are those of the session; only kinds other than `message` use them.
 * @throws HoldfastError `unknown_message`.
 */
export function askedOf(given: GivenMessage, messages: readonly SessionMessage[]): Asked {
	const { kind, id, message, answerId } = given;
	const said: Asked = { input: message, ...(id === undefined ? {} : { messageId: id }) };
	if (kind === "message") return said;
	if (kind === "edit") {
		if (id === undefined || isIdOfPlace(id)) throw unknownMessage();
		return { input: message, insteadOf: id };
	}
	const users = messages.filter((each) => each.role === "user");
	const named = (isIt: (userId: string) => boolean) =>
		users.findLast((each) => each.id !== undefined && isIt(each.id));
	const asked = named((userId) => userId === id) ?? named((userId) => answerIdOf(userId) === answerId);
	if (asked?.id !== undefined)
		return { input: { role: "user", content: asked.content }, insteadOf: asked.id };
	// A message that never arrived has no answer to name, so it is sent again.
	if (answerId !== undefined || id === undefined || isIdOfPlace(id)) throw unknownMessage();
	return said;
}

function unknownMessage(): HoldfastError {
	return new HoldfastError(
		"unknown_message",
		"The session has no such user message to replace or answer again. Reload the chat.",
	);
}
