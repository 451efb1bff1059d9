// A message as JSON data: ids, ISO 8601 times, metadata and bytes are all kept. Reading is message-from-json.ts.

import type { AnyMessage, Message, MessageType } from "./message.ts";
import { encodeValue, type JSONValue } from "./value-codec.ts";

/** A message as JSON data. */
export interface MessageJSON {
	id: string;
	type: MessageType;
	content: JSONValue[];
	toolCalls?: JSONValue[];
	results?: JSONValue[];
	metadata?: JSONValue;
	/** ISO 8601. */
	timestamp: string;
}

/**
 * Turns a message into JSON data that `messageFromJSON` turns back exactly.
 * @throws HoldfastError `unserialisable_value` where content or results hold what JSON cannot say.
 */
export function messageToJSON(message: Message): MessageJSON {
	const given = message as AnyMessage;
	const json: MessageJSON = {
		id: given.id,
		type: given.type,
		content: given.type === "tool_result" ? [] : (encodeValue(given.content) as JSONValue[]),
		timestamp: given.timestamp.toISOString(),
	};
	if (given.type === "assistant" && given.toolCalls !== undefined) {
		json.toolCalls = encodeValue(given.toolCalls) as JSONValue[];
	}
	if (given.type === "tool_result") json.results = encodeValue(given.results) as JSONValue[];
	if (given.metadata !== undefined) json.metadata = encodeValue(given.metadata);
	return json;
}
