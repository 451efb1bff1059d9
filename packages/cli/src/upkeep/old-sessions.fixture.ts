/** Sessions of a known age, written as agents write them, for tests of the upkeep. */
import { AssistantMessage, UserMessage } from "@holdfast/upp";
import type { Fact, Journal, Lease } from "holdfast/host";

export const day = 24 * 60 * 60 * 1000;

/** Key of a sub-agent's session. */
export function childKey(parent: string, suffix: string): string {
	return `\0sub\0${parent.length}\0${parent}\x006\0helper\0${suffix}`;
}

/** Returns the facts of a run that called a tool: its messages, and a secret that only its details contain. */
export function factsOfRun(asks: string, secret: string): readonly Fact[] {
	const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
	const question = new UserMessage(asks);
	const calls = [{ toolCallId: "c", toolName: "look", arguments: {} }];
	const answer = { tag: "act", usage, stopReason: "stop", modelId: "m", duration: 1 };
	return [
		{ kind: "run.started", runKind: "user-turn", agentId: "a", fingerprint: "f" },
		{ kind: "input", inputId: question.id, placement: "turn", shape: "text", message: question },
		{ kind: "assistant", step: 1, ...answer, message: new AssistantMessage("", calls), resultsId: "r" },
		{ kind: "tool.started", step: 1, callId: "c", name: "look", attempt: 1, idempotencyKey: "k" },
		{
			kind: "tool.settled",
			step: 1,
			callId: "c",
			outcome: "done",
			result: "seen",
			details: secret,
			duration: 1,
		},
		{ kind: "assistant", step: 2, ...answer, message: new AssistantMessage(`re: ${asks}`) },
		{ kind: "run.ended", outcome: "completed" },
	];
}

export async function take(journal: Journal, key: string): Promise<Lease> {
	const acquired = await journal.acquire(key);
	if (!acquired.ok) throw new Error(`${key} is held by ${acquired.heldBy}`);
	return acquired.lease;
}

/** Adds a run that ended at that time; its last answer arrived in a chunk that contains the secret too. */
export async function addRun(
	journal: Journal,
	key: string,
	{
		at,
		runId,
		secret = "",
		asks = "What is there?",
	}: { at: number; runId: string; secret?: string; asks?: string },
): Promise<void> {
	const lease = await take(journal, key);
	for (const [index, fact] of factsOfRun(asks, secret).entries()) {
		const chunks = index === 5 && secret !== "" ? [{ sub: 1, event: { text: secret } }] : [];
		await lease.append({ at, runId, facts: [fact], chunks });
	}
	await lease.release();
}
