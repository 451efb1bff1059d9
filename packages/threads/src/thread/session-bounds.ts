// The start and the end of an execution: the agent that acts, and the notifications about the end.
import { UserMessage } from "@holdfast/upp";
import type { QuestionContext } from "holdfast/execution";
import type { BeginAnswer } from "./flow.ts";
import { withData } from "./message-data.ts";
import type { ThreadSystem } from "./system.ts";

/** Determines which agent acts, and whether it may. */
export async function beginThread(
	system: ThreadSystem,
	{ sessionKey = "" }: QuestionContext,
): Promise<BeginAnswer> {
	const record = await system.records.get(sessionKey);
	if (record === undefined) return { agent: "", reports: false, refusal: "There is no such thread." };
	if (record.terminated !== null)
		return { agent: record.agentId, reports: false, refusal: "The thread was terminated." };
	// If a process died while it created the thread, the hooks of its creation are still to run.
	if (!record.isReady) await system.create(record);
	return { agent: record.agentId, reports: record.parent?.reports === true };
}

/** Queues the outcome of a sub-agent's session to its parent: once, however often it is called. */
export async function reportToParent(
	system: ThreadSystem,
	{ sessionKey = "", runId }: QuestionContext,
): Promise<boolean> {
	const record = await system.records.get(sessionKey);
	const live = system.live(sessionKey);
	if (record?.parent === undefined || live === undefined) return false;
	const parent = await system.records.get(record.parent.threadId);
	if (parent === undefined || parent.terminated !== null) return false;
	await live.ready();
	const { outcome, response, turnSeq } = live.flow;
	const id = `${runId}.report.${turnSeq}`;
	if (await isSaid(system, parent.id, id)) return true;
	const who = record.name ?? record.parent.name;
	const how = outcome?.status === "failure" ? "failed" : "finished";
	const text = `The sub-agent "${who}" (${record.id}) ${how}:\n${outcome?.text ?? response}`;
	const metadata = { subagent_event: how, subagent: record.id };
	const message = new UserMessage(text, { id, metadata: withData({ silent: true, metadata }) });
	const run = await system.session(parent.id).steer(message);
	void run.result().catch(() => {});
	return true;
}

/** Whether a thread, or its inbox, contains a message with that id. */
async function isSaid(system: ThreadSystem, threadId: string, id: string): Promise<boolean> {
	// Reads the queue first: a message that is accepted in between then appears among the committed ones.
	const inbox = await system.host.journal.inbox(system.storeKeyOf(threadId));
	if ((await system.view(threadId)).get(id) !== undefined) return true;
	return inbox.some(({ body }) => (body as { message?: { id?: unknown } } | null)?.message?.id === id);
}
