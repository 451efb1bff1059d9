// Messages that callers hand to a state are sealed: the message stays the same object and can no longer change. What it
// was built from is copied, so the caller's own arrays stay the caller's.
import { HoldfastError, isMessage, type Message } from "@holdfast/upp";
import { frozenCopyOfMedia } from "./frozen-copy.ts";

const sealed = new WeakSet<Message>();

/**
 * Seals a message and returns it. The second time costs nothing.
 * @throws HoldfastError `invalid_message` for what is no message.
 */
export function sealMessage<Sealed extends Message>(message: Sealed): Sealed {
	if (sealed.has(message)) return message;
	if (!isMessage(message)) {
		throw new HoldfastError(
			"invalid_message",
			`A state holds messages, and was given ${typeof message === "object" ? "another object" : String(message)}. Give a UserMessage, an AssistantMessage or a ToolResultMessage.`,
		);
	}
	if (Object.isFrozen(message)) return message;
	const members = message as unknown as Record<string, unknown>;
	for (const name of ["content", "toolCalls", "results", "metadata", "timestamp"]) {
		if (Object.hasOwn(members, name)) members[name] = frozenCopyOfMedia(members[name]);
	}
	Object.freeze(message);
	sealed.add(message);
	return message;
}
