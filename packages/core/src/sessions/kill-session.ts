// Ends a session's runs from outside and records the end: the epoch increases in the same transaction (keeps I4).
import type { AssistantMessage } from "@holdfast/upp";
import { type EngineAgent, sessionKilled } from "../engine/index.ts";
import type { Fact } from "../facts/index.ts";
import { errorData } from "../facts/index.ts";
import type { Journal } from "../host/index.ts";
import { storedAnswers } from "./waiting-answers.ts";

/**
 * Ends the open run and empties the inbox, regardless of the worker that owns the session. Does not create a missing
 * session. Returns the ids of the runs that were ended and of those that will never start.
 */
export async function killSession(
	journal: Journal,
	storeKey: string,
	{ ports: { clock, ids }, fairness }: Pick<EngineAgent, "ports" | "fairness">,
): Promise<readonly string[]> {
	for (;;) {
		// Other workers may take the session repeatedly, so this yields to other work.
		await fairness.pause();
		if ((await journal.head(storeKey)) === undefined) return [];
		const acquired = await journal.acquire(storeKey, { mode: "seize" });
		if (!acquired.ok) continue;
		const { lease } = acquired;
		const { openRunId } = lease;
		const waiting = await lease.inbox();
		const ended = new Set(waiting.flatMap(({ runId = [] }) => runId));
		if (openRunId !== undefined) ended.add(openRunId);
		if (openRunId === undefined && waiting.length === 0) return [];
		const error = errorData(sessionKilled());
		try {
			await lease.append({
				at: clock.now(),
				runId: openRunId ?? ids.uuid(),
				facts: openRunId === undefined ? [] : [{ kind: "run.ended", outcome: "killed", error }],
				drain: waiting.map((input) => input.id),
			});
			await lease.release();
			return [...ended];
		} catch (failure) {
			// The session changed between the read and the append: read again.
			if ((failure as { code?: unknown }).code !== "lease_lost") throw failure;
		}
	}
}

/**
 * Ends the open run as aborted, in any process. Keeps the inbox, except for answers to the run's calls. `partial` returns
 * the model's partial text. Returns false if no run is open.
 */
export async function abortRun(
	journal: Journal,
	storeKey: string,
	{ ports: { clock }, fairness }: Pick<EngineAgent, "ports" | "fairness">,
	partial: () => Promise<AssistantMessage | undefined>,
): Promise<boolean> {
	for (;;) {
		await fairness.pause();
		if ((await journal.head(storeKey))?.openRunId === undefined) return false;
		const acquired = await journal.acquire(storeKey, { mode: "seize" });
		if (!acquired.ok) continue;
		const { lease } = acquired;
		const { openRunId: runId } = lease;
		if (runId === undefined) return false;
		const said = await partial();
		try {
			const ended: Fact = {
				kind: "run.ended",
				outcome: "aborted",
				...(said === undefined ? {} : { partial: said }),
			};
			const answers = storedAnswers(await lease.inbox(), runId);
			await lease.append({ at: clock.now(), runId, facts: [ended], drain: answers.map(({ id }) => id) });
			await lease.release();
			return true;
		} catch (failure) {
			// The session changed between the read and the append: read again.
			if ((failure as { code?: unknown }).code !== "lease_lost") throw failure;
		}
	}
}
