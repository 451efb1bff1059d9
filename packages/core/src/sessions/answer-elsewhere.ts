// Answers for a run that another worker drives. They go into the session's inbox, and that worker checks them again
// (keeps I4).
import { HoldfastError } from "@holdfast/upp";
import {
	answerFacts,
	entriesAfter,
	expired,
	type Fact,
	type SessionState,
	type ToolAnswer,
	takesAnswers,
} from "../facts/index.ts";
import type { StoredInput } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { answeredElsewhere, isLost, splitAnswers, withNestedCalls } from "./early-answers.ts";
import type { SessionActor } from "./session-actor.ts";
import { noPendingToolCalls } from "./session-errors.ts";
import type { SessionQueue } from "./session-queue.ts";
import { answersInput, callSettled, isSameAnswer, newAnswers, readAnswers } from "./waiting-answers.ts";

/**
 * Puts the answers into the inbox if another worker drives the run, and returns the run. Otherwise returns the answers
 * that are not in the inbox yet.
 */
export async function answerElsewhere(
	actor: SessionActor,
	answers: readonly ToolAnswer[],
	now: () => number,
	continueAnswered: (queue: SessionQueue) => Promise<void>,
): Promise<AgentRun | readonly ToolAnswer[]> {
	const { table, lease, storeKey, sessionKey } = actor;
	const { journal, agent } = table;
	actor.ensureUsable();
	const state = await lease.read();
	const { run } = state;
	if (run === undefined || !takesAnswers(state)) return answers;
	const fresh = newAnswers(await journal.inbox(storeKey), state, answers);
	if (run.status !== "running") return fresh;
	lease.drop();
	if ((await actor.open()) !== "held") return fresh;
	if (fresh.length > 0) {
		const all = withNestedCalls(state);
		answerFacts(all, fresh, now());
		refuseUnmasked(all, fresh);
		const { own, nested } = splitAnswers(run, fresh);
		const admitted = await agent.children?.admitAnswers({ storeKey, run }, nested);
		const { uuid } = agent.engine.ports.ids;
		const { runId } = run;
		const input = answersInput(agent, { id: uuid(), runId }, [...own, ...(admitted ?? nested)]);
		try {
			await journal.submit(storeKey, { ...input, askedBy: { key: storeKey, runId } });
		} catch (error) {
			throw isLost(error) ? noPendingToolCalls(sessionKey) : error;
		}
		await refuseBeaten(actor, state, input);
	}
	const handle = answeredElsewhere(actor, run.runId);
	// The run may have started to wait at that moment.
	void continueAnswered(actor.queue);
	return handle;
}

/** Refuses answers that would be stored in the inbox before any policy has masked them. */
function refuseUnmasked({ run }: SessionState, answers: readonly ToolAnswer[]): void {
	for (const { toolCallId } of answers) {
		if (run?.pending?.find(({ callId }) => callId === toolCallId)?.noInbox === undefined) continue;
		throw new HoldfastError(
			"policy_invalid",
			`The answer for the call ${JSON.stringify(toolCallId)} was refused: another worker has the run, and an interceptor whose \`admit\` is asked about decisions or results has no \`admitWaiting\` for answers that wait in the inbox. Give it a function that replaces what \`admit\` replaces, or "as-is" if \`admit\` changes no answer; or answer once the run waits.`,
			{ data: { toolCallId } },
		);
	}
}

/**
 * Checks answers again after they were stored in the inbox, because another answer may have been first. In that case it
 * rejects with `tool_call_settled`, and the process that reads the inbox drops these answers. A later answer cannot be
 * first, because the owner of the run reads the inbox before it.
 */
async function refuseBeaten(
	{ table, storeKey }: SessionActor,
	before: SessionState,
	input: Pick<StoredInput, "id" | "body">,
): Promise<void> {
	const { journal, agent } = table;
	const answers = readAnswers(input);
	const inbox = await journal.inbox(storeKey);
	const at = inbox.findIndex(({ id }) => id === input.id);
	newAnswers(at < 0 ? inbox : inbox.slice(0, at), before, answers);
	const { own, nested } = splitAnswers(before.run, answers);
	const open = new Map(own.map((answer) => [answer.toolCallId, answer]));
	for await (const { fact } of entriesAfter(journal, storeKey, before.seq)) {
		if (open.size === 0) break;
		const settled = settledBy(fact);
		const answer = settled && open.get(settled.toolCallId);
		if (answer === undefined || settled === undefined) continue;
		open.delete(answer.toolCallId);
		if (fact.kind === "tool.settled" && fact.outcome === "expired") throw expired(answer.toolCallId);
		// Hooks have changed the accepted result.
		const isOurs = at < 0 && "output" in answer && "output" in settled && agent.policy !== undefined;
		if (!isOurs && !isSameAnswer(settled, answer)) throw callSettled(answer.toolCallId, "which stays");
	}
	if (nested.length > 0) await agent.children?.refuseAnswered({ storeKey, run: before.run }, nested);
}

/**
 * Returns the answer that a fact records; undefined if it records none. A call that ended in another way also has a
 * result.
 */
function settledBy(fact: Fact): ToolAnswer | undefined {
	if (fact.kind === "decision" && fact.topic === "approval") {
		const { callId: toolCallId, ...said } = fact.answer as { callId: string; approved: boolean };
		return { toolCallId, ...said };
	}
	if (fact.kind !== "tool.settled") return undefined;
	const { callId: toolCallId, result: output, outcome } = fact;
	return { toolCallId, output, isError: outcome !== "done" };
}
