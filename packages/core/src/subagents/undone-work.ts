// Delegations that are no longer in the parent's history, because another turn replaced the one that made them
// (`insteadOf`). The sub-agent forgets them with its next work. They are read from the journals, so a crash changes
// nothing.
import { entriesBack } from "../facts/index.ts";
import { readState, type SessionTable } from "../sessions/index.ts";
import type { ChildTask } from "./read-task.ts";

/**
 * Returns the id of the first undone message in a sub-agent's history; its next work replaces that message and all that
 * follow. Undefined if nothing was undone. The cost is proportional to what the parent did since it last delegated to
 * that session.
 */
export async function firstUndone(
	child: SessionTable,
	parent: SessionTable,
	parentKey: string,
	{ storeKey, runId }: Pick<ChildTask, "storeKey" | "runId">,
): Promise<string | undefined> {
	if ((await child.journal.head(storeKey)) === undefined) return undefined;
	const { agent } = await readState(child.queue(storeKey));
	const given = agent.messages.filter(({ type }) => type === "user").map(({ id }) => id);
	const last = given.at(-1);
	// The work was accepted before.
	if (last === undefined || given.includes(runId)) return undefined;
	const undone = await undoneSince(parent, parentKey, last);
	return given.find((id) => undone.has(id));
}

/**
 * Returns the keys of the calls that were removed from the history: from the last one back to `key`, including those
 * undone together with it.
 */
async function undoneSince(
	{ journal }: SessionTable,
	parentKey: string,
	key: string,
): Promise<ReadonlySet<string>> {
	const undone = new Set<string>();
	/** Ids of replaced messages: everything from such a message to this position was removed. */
	const cut = new Set<string>();
	let isFound = false;
	const { seq = 0 } = (await journal.head(parentKey)) ?? {};
	for await (const { fact } of entriesBack(journal, parentKey, seq)) {
		if (fact.kind === "history.cut") cut.add(fact.messageId);
		if (fact.kind === "input") cut.delete(fact.message.id);
		if (fact.kind === "tool.started") {
			if (cut.size > 0) undone.add(fact.idempotencyKey);
			isFound ||= fact.idempotencyKey === key;
		}
		if (isFound && cut.size === 0) break;
	}
	return undone;
}
