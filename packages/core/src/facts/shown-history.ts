// The model's view of a history that was not folded from entries, or was folded long ago.
import {
	type AssistantMessage,
	isToolResultMessage,
	type Message,
	type ToolResult,
	ToolResultMessage,
} from "@holdfast/upp";
import { List } from "../state/index.ts";
import type { FoldOptions } from "./session-state.ts";

/** Returns a history as the model sees it; the same list if none of its results is cut. */
export function shownHistory(history: List<Message>, show: FoldOptions["show"]): List<Message> {
	const names = new Map<string, string>();
	let isCut = false;
	const shown = history.toArray().map((message) => {
		for (const { toolCallId, toolName } of (message as AssistantMessage).toolCalls ?? [])
			names.set(toolCallId, toolName);
		if (!isToolResultMessage(message)) return message;
		const of = message.results.map(({ toolCallId }) => names.get(toolCallId) ?? "");
		const visible = withShown(message, of, show);
		isCut ||= visible !== message;
		return visible;
	});
	return isCut ? List.from(shown) : history;
}

/** Returns a message of results as the model sees it; the same message if nothing is cut. `names` are those of the tools. */
export function withShown(
	message: Message,
	names: readonly string[] | null | undefined,
	show: FoldOptions["show"],
): Message {
	if (names == null || !isToolResultMessage(message)) return message;
	const results = message.results.map((given, index): ToolResult => {
		const result = show(names[index] ?? "", given.result);
		return result === given.result ? given : { ...given, result };
	});
	if (results.every((result, index) => result === message.results[index])) return message;
	return new ToolResultMessage(results, message);
}
