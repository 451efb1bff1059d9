// Facts of every kind that holds what somebody said, gave or noted.
import { createRedactor } from "@holdfast/redaction";
import { AssistantMessage, UserMessage } from "@holdfast/upp";
import type { Fact } from "holdfast/host";
import { expect, test } from "vitest";
import { maskedFact } from "./masked-fact.ts";

const secret = "correct-horse-battery";
const redactor = createRedactor({ secrets: [secret] });
const noUsage = { inputTokens: 1, outputTokens: 1, totalTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };

const factsWith = (text: string): readonly Fact[] => {
	const calls = [{ toolCallId: "c", toolName: "t", arguments: { text } }];
	const said = { step: 1, tag: "act", usage: noUsage, stopReason: "end_turn", modelId: "m", duration: 1 };
	return [
		{ kind: "input", inputId: "i", placement: "turn", shape: "text", message: new UserMessage(text) },
		{ kind: "message.added", message: new AssistantMessage(text) },
		{ kind: "message.updated", messageId: "m", message: new UserMessage(text) },
		{ kind: "assistant", ...said, message: new AssistantMessage(text, calls) },
		{ kind: "assistant", ...said, message: new AssistantMessage("x"), data: { text } },
		{ kind: "tools.requested", step: 1, tag: "act", calls },
		{
			kind: "tool.started",
			step: 1,
			callId: "c",
			name: "t",
			input: { text },
			attempt: 1,
			idempotencyKey: "k",
		},
		{
			kind: "tools.pending",
			step: 1,
			calls: [{ callId: "c", awaits: "approval", since: 1, input: { text } }],
		},
		{ kind: "tool.settled", step: 1, callId: "c", outcome: "done", result: text, duration: 1 },
		{ kind: "tool.settled", step: 1, callId: "c", outcome: "done", result: 1, details: [text], duration: 1 },
		{ kind: "decision", step: 1, topic: "plan", answer: { text } },
		{ kind: "note", step: 1, topic: "n", value: text },
		{
			kind: "run.resumed",
			attempt: 2,
			fingerprint: "f",
			reason: "crash",
			partial: new AssistantMessage(text),
		},
		{ kind: "run.ended", outcome: "error", error: { code: "c", message: text, retryable: false } },
		{ kind: "run.ended", outcome: "aborted", partial: new AssistantMessage(text) },
		{
			kind: "run.started",
			runKind: "subagent",
			agentId: "a",
			fingerprint: "f",
			parent: { sessionKey: "s", runId: "r", toolCallId: "c", description: text },
		},
	];
};

const cases = factsWith(`It is ${secret}.`).map((fact, at) => [`${at} ${fact.kind}`, fact] as const);

test.each(cases)("a registered secret is masked before it is recorded: %s [RUN-129]", (_, fact) => {
	const text = JSON.stringify(maskedFact(fact, redactor));
	expect(text).toContain("It is [REDACTED:secret].");
	expect(text).not.toContain(secret);
});

test("a fact without one stays the same object [RUN-129]", () => {
	for (const fact of factsWith("It is nothing.")) expect(maskedFact(fact, redactor)).toBe(fact);
});
