// Converts a session's messages to the messages of a page: everything in answer to one user message is one message, with
// the same id as in the stream. Pure.
import type { SessionMessage } from "holdfast";
import type { PendingSessionCall } from "holdfast/execute";
import {
	answerIdOf,
	approvalIdOf,
	idOfPlace,
	outputOf,
	sourcePart,
	type UiMessage,
	type UiPart,
	type UiToolPart,
	urlOf,
	waitsOutput,
} from "./ui-chunk.ts";

type MessageOf<Role extends SessionMessage["role"]> = Extract<SessionMessage, { readonly role: Role }>;

/** Returns the messages of a session for a page. */
export function chatHistory(
	messages: readonly SessionMessage[],
	pending: readonly PendingSessionCall[] = [],
): readonly UiMessage[] {
	const shown: (UiMessage & { readonly parts: UiPart[] })[] = [];
	const calls = new Map<string, UiToolPart>();
	/** The last answer, and where its parts begin. */
	let last: { readonly id: string; readonly at: number } | undefined;
	const answer = (): UiPart[] => {
		const last = shown.at(-1);
		if (last?.role === "assistant") return last.parts;
		const parts: UiPart[] = [];
		shown.push({ id: answerIdOf(last?.id ?? "first"), role: "assistant", parts });
		return parts;
	};
	for (const [index, message] of messages.entries()) {
		if (message.role === "user") {
			shown.push({ id: message.id ?? idOfPlace(index), role: "user", parts: userParts(message) });
		} else if (message.role === "assistant") {
			const parts = answer();
			let at = parts.length + 1;
			if (last !== undefined && message.replaces === last.id) {
				at = last.at;
				// The text is replaced, but the calls of the answer have run.
				parts.push(...parts.splice(at).filter(({ type }) => type.startsWith("tool-")));
			} else parts.push({ type: "step-start" });
			last = { id: message.id, at };
			parts.push(...answerParts(message, calls));
		} else if (message.role === "tool") {
			settle(calls.get(message.toolCallId), message);
		} else if (message.partial !== undefined && messages[index + 1]?.role !== "assistant") {
			// If a cut-off answer was generated again, it is shown only once.
			answer().push({ type: "step-start" }, ...answerParts(message.partial, calls));
		}
	}
	for (const { id, name, arguments: input, approval, runId, path, taskId } of pending) {
		const known = calls.get(id);
		// Calls of sub-agents and calls of a strategy are in no message.
		const part: UiToolPart = known ?? {
			type: `tool-${name}`,
			toolCallId: id,
			input,
			state: "input-available",
		};
		if (known === undefined) answer().push(part);
		const outer = calls.get(path?.[0]?.toolCallId ?? "");
		if (outer !== undefined && taskId === undefined)
			Object.assign(outer, { state: "output-available", output: waitsOutput });
		delete part.providerExecuted;
		// Show the input that runs.
		part.input = input;
		if (approval !== true) continue;
		part.state = "approval-requested";
		part.approval = { id: approvalIdOf(runId, id) };
	}
	return shown;
}

function userParts({ content }: MessageOf<"user">): UiPart[] {
	if (typeof content === "string") return [{ type: "text", text: content }];
	return content.map((part): UiPart => {
		if (part.type === "text") return part;
		if (part.type === "image") {
			const { image, mediaType = "image/*" } = part;
			return { type: "file", mediaType, url: urlOf(image, mediaType) };
		}
		const { data, mediaType, filename } = part;
		const named = filename === undefined ? {} : { filename };
		return { type: "file", mediaType, url: urlOf(data, mediaType), ...named };
	});
}

function answerParts({ content }: MessageOf<"assistant">, calls: Map<string, UiToolPart>): UiPart[] {
	return content.flatMap((part): UiPart[] => {
		if (part.type === "text") return [{ type: "text", text: part.text, state: "done" }];
		if (part.type === "thinking") return [{ type: "reasoning", text: part.thinking, state: "done" }];
		if (part.type === "source") return [sourcePart(part)];
		if (part.type === "file")
			return [{ type: "file", mediaType: part.mediaType, url: urlOf(part.data, part.mediaType) }];
		if (part.type === "providerToolResult") {
			settle(calls.get(part.toolCallId), part);
			return [];
		}
		const call: UiToolPart = {
			type: `tool-${part.name}`,
			toolCallId: part.id,
			input: part.arguments,
			state: "input-available",
			providerExecuted: true,
		};
		calls.set(part.id, call);
		return [call];
	});
}

function settle(
	part: UiToolPart | undefined,
	{ output, isError }: Pick<MessageOf<"tool">, "output" | "isError">,
): void {
	if (part === undefined) return;
	part.state = isError ? "output-error" : "output-available";
	if (isError) part.errorText = output;
	else part.output = outputOf(output);
}
