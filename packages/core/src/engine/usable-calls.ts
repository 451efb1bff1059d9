// The tool calls of a model's answer in the form in which they are recorded: with unique ids, and without calls that may
// not run.
import { type AssistantContent, AssistantMessage, type ToolCall } from "@holdfast/upp";
import type { CallIds } from "./call-ids.ts";
import { withReadableArguments } from "./deep-arguments.ts";

/** Removes the calls of an answer that the provider refused; they are not executed. */
export function withoutCalls(message: AssistantMessage): AssistantMessage {
	return message.hasToolCalls
		? new AssistantMessage(message.content, undefined, identityOf(message))
		: message;
}

function identityOf({
	id,
	timestamp,
	metadata,
}: AssistantMessage): Pick<AssistantMessage, "id" | "timestamp"> {
	return { id, timestamp, ...(metadata === undefined ? {} : { metadata }) };
}

/**
 * Gives each call a unique id, marks arguments nested too deeply as unreadable, and prevents calls of tools that were not
 * offered.
 */
export function withUsableCalls(
	message: AssistantMessage,
	ids: CallIds | undefined,
	modelId: string,
	offered: boolean,
): AssistantMessage {
	const calls = message.toolCalls;
	if (calls === undefined || calls.length === 0 || ids === undefined) return message;
	if (!offered) {
		const readable = calls.map(withReadableArguments);
		return new AssistantMessage(withIntent(message.content, readable), undefined, identityOf(message));
	}
	const isReadable = calls.every((call) => withReadableArguments(call) === call);
	return withNamedCalls(
		isReadable
			? message
			: new AssistantMessage(message.content, calls.map(withReadableArguments), identityOf(message)),
		ids,
		modelId,
	);
}

/** Returns the message with new ids for calls whose provider repeats or omits them. */
export function withNamedCalls(message: AssistantMessage, ids: CallIds, modelId: string): AssistantMessage {
	const { toolCalls = [] } = message;
	const named = ids.named(toolCalls, modelId);
	return named === toolCalls ? message : new AssistantMessage(message.content, named, identityOf(message));
}

/**
 * Replaces an answer that consists only of calls that were not offered with a text about them, because providers refuse
 * empty answers.
 */
function withIntent(
	content: readonly AssistantContent[],
	calls: readonly ToolCall[],
): readonly AssistantContent[] {
	if (content.some((block) => block.type === "text" && block.text !== "")) return content;
	const wanted = calls.map((call) => `${call.toolName}(${JSON.stringify(call.arguments)})`);
	return [...content, { type: "text", text: `Next: ${wanted.join(", ")}` }];
}
