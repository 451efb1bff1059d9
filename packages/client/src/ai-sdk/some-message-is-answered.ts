// Decides when a page sends its answers to calls automatically.

/** A part of a message, as far as it is read here. */
interface Part {
	/** The kind of part, such as `tool-refund`. */
	readonly type: string;
	/** The state of a tool call. */
	readonly state?: string;
	/** Set for an output that is not final. */
	readonly preliminary?: boolean;
}

const complete: ReadonlySet<string | undefined> = new Set([
	"approval-responded",
	"output-available",
	"output-error",
	"output-denied",
]);

/**
 * Returns whether an answer of the agent has all the approvals that its last step requires. Pass it to `useChat` as
 * `sendAutomaticallyWhen`. Unlike the AI SDK's `lastAssistantMessageIsCompleteWithApprovalResponses`, it also sends
 * approvals of an earlier message. The user may give those after sending another message.
 *
 * @example
 * const parts = [{ type: "tool-erase", state: "approval-responded" }];
 * const messages = [{ role: "assistant", parts }, { role: "user", parts: [{ type: "text" }] }];
 * console.log(someMessageIsAnswered({ messages })); // true
 */
export function someMessageIsAnswered({
	messages,
}: {
	readonly messages: readonly { readonly role: string; readonly parts: readonly Part[] }[];
}): boolean {
	return messages.some(({ role, parts }) => {
		if (role !== "assistant") return false;
		const step = parts.slice(parts.findLastIndex(({ type }) => type === "step-start") + 1);
		const calls = step.filter(({ type }) => type.startsWith("tool-") || type === "dynamic-tool");
		return (
			calls.some(({ state }) => state === "approval-responded") &&
			calls.every(({ state, preliminary }) => complete.has(state) && preliminary !== true)
		);
	});
}
