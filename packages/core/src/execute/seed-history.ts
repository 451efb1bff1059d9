// The initial history of a session: the first entry of its journal, plus its original form.
import {
	type AssistantContent,
	AssistantMessage,
	HoldfastError,
	type Message,
	type ToolCall,
	type ToolResult,
	ToolResultMessage,
	UserMessage,
} from "@holdfast/upp";
import { acceptInput, foldedFact, initialSession, withTools } from "../facts/index.ts";
import type { Host } from "../host/index.ts";
import { AgentState } from "../state/index.ts";
import { invalidInput } from "./execute-errors.ts";
import type { AssistantPart, SessionMessage, UserPart } from "./session-message.ts";
import { setupValues } from "./session-setup.ts";

/**
 * Stores the initial history of a session as the first entry of its journal.
 *
 * Rejects with `session_exists` if the session of that key already has entries, or with `invalid_input`.
 */
export async function seed(
	host: Host,
	storeKey: string,
	messages: readonly unknown[],
	about: { readonly runId: string; readonly at: number },
): Promise<void> {
	const { journal } = host;
	const history = answered(messages.flatMap(historyMessage));
	const [first, second] = await journal.read(storeKey, { limit: 2 });
	// A session whose creation was interrupted by a crash is created again.
	if (first !== undefined && (first.fact.kind !== "folded" || second !== undefined)) throw sessionExists();
	if (history.length === 0 && first === undefined) return;
	const acquired = await journal.acquire(storeKey);
	if (!acquired.ok) throw sessionExists();
	const state = initialSession(AgentState.initial().withMessages(history), withTools.show);
	await setupValues(host, storeKey).set("history", messages);
	const replaced = first === undefined ? about : { at: first.at, runId: first.runId, replaces: first.seq };
	await acquired.lease.append({ ...replaced, facts: [foldedFact(state)] });
	await acquired.lease.release();
}

/** Returns the initial history of a session in its original form. */
export async function seeded(host: Host, storeKey: string): Promise<readonly unknown[] | undefined> {
	return (await setupValues(host, storeKey).get("history")) as readonly unknown[] | undefined;
}

function sessionExists(): HoldfastError {
	return new HoldfastError(
		"session_exists",
		"A session with that id exists and has other content. Choose another id.",
	);
}

/** Converts a message of `createSession` for the model layer. Errors and aborts are not sent to models. */
function historyMessage(given: unknown, index: number): Message[] {
	const field = `context.messages[${index}]`;
	const message = given as SessionMessage | null;
	switch (message?.role) {
		case "user":
			return [userMessage(message.content, field)];
		case "assistant": {
			if (!Array.isArray(message.content))
				throw invalidInput(`${field}.content`, "must be an array of parts");
			const calls: ToolCall[] = [];
			const content = message.content.flatMap((part: AssistantPart): AssistantContent[] => {
				if (part?.type === "toolCall") {
					calls.push({
						toolCallId: String(part.id),
						toolName: String(part.name),
						arguments: { ...part.arguments },
					});
					return [];
				}
				if (part?.type === "text") return [{ type: "text", text: String(part.text) }];
				// A named tool that the provider ran itself exists only at the provider.
				if (
					part?.type === "providerToolCall" ||
					part?.type === "providerToolResult" ||
					part?.type === "source"
				)
					return [];
				if (part?.type === "file") return [fileBlock(part, `${field}.content`)];
				if (part?.type === "thinking") return [{ type: "reasoning", text: String(part.thinking) }];
				throw invalidInput(`${field}.content`, "has a part of an unknown type");
			});
			return [new AssistantMessage(content, calls.length === 0 ? undefined : calls)];
		}
		case "tool": {
			const { toolCallId, output, isError } = message;
			if (typeof toolCallId !== "string")
				throw invalidInput(`${field}.toolCallId`, "must be the id of a tool call");
			return [new ToolResultMessage([{ toolCallId, result: output, ...(isError ? { isError } : {}) }])];
		}
		case "error":
		case "aborted":
			return [];
		default:
			throw invalidInput(`${field}.role`, "must be user, assistant, tool, error or aborted");
	}
}

function fileBlock(part: AssistantPart, field: string): AssistantContent {
	try {
		const { data, mediaType } = part as { readonly data: string; readonly mediaType: string };
		const isImage = mediaType.startsWith("image/");
		const given = isImage ? { type: "image", image: data, mediaType } : { type: "file", data, mediaType };
		const [block] = acceptInput({ type: "user-message", content: [given as UserPart] }).message.content;
		return block as AssistantContent;
	} catch {
		throw invalidInput(field, "has a file without `data` and `mediaType`");
	}
}

/** Combines the results of one answer into one message, with a result for each of its calls. */
function answered(messages: readonly Message[]): readonly Message[] {
	const history: Message[] = [];
	for (let at = 0; at < messages.length; at++) {
		const message = messages[at] as Message;
		if (message.type === "tool_result") continue; // handled with its answer, or ignored without one
		history.push(message);
		const calls = (message as AssistantMessage).toolCalls ?? [];
		if (message.type !== "assistant" || calls.length === 0) continue;
		const given = new Map<string, ToolResult>();
		for (let next = at + 1; messages[next]?.type === "tool_result"; next++)
			for (const result of (messages[next] as ToolResultMessage).results)
				given.set(result.toolCallId, result);
		const none = { result: "This call has no result.", isError: true };
		history.push(
			new ToolResultMessage(calls.map(({ toolCallId }) => given.get(toolCallId) ?? { toolCallId, ...none })),
		);
	}
	return history;
}

function userMessage(content: string | readonly UserPart[], field: string): UserMessage {
	if (typeof content === "string") return new UserMessage(content);
	try {
		return acceptInput({ type: "user-message", content }).message;
	} catch {
		throw invalidInput(`${field}.content`, "must be text or an array of parts");
	}
}
