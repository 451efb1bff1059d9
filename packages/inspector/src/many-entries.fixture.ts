// The entries of a long session.

/** Entries of a session that called a tool again and again. */
export function manyEntries(count: number): object[] {
	const at = Date.now() - count * 10;
	return Array.from({ length: count }, (_, index) => {
		const seq = index + 1;
		const step = Math.floor(index / 3) + 1;
		const entry = (kind: string, body: object) => ({ seq, at: at + index * 10, runId: "r", kind, body });
		if (index === 0) return entry("run.started", { runKind: "user-turn" });
		const callId = `call-${step}`;
		if (index % 3 === 0) {
			const toolCalls = [{ toolCallId: callId, toolName: "add", arguments: { step } }];
			const message = {
				id: `m${step}`,
				type: "assistant",
				content: [{ type: "text", text: `Step ${step}.` }],
				toolCalls,
			};
			const usage = { inputTokens: 10, outputTokens: 5 };
			return entry("assistant", { step, tag: "act", message, usage, modelId: "clever-1", duration: 5 });
		}
		if (index % 3 === 1) return entry("tool.started", { step, callId, name: "add", attempt: 1 });
		return entry("tool.settled", { step, callId, outcome: "done", result: { sum: step }, duration: 3 });
	});
}
