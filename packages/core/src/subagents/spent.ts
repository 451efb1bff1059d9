// The usage of a sub-agent's run, including its own sub-agents. It is read from the run's journal, regardless of the
// process.
import { emptyUsage, sumUsage } from "@holdfast/upp";
import { entriesBack, type Spent } from "../facts/index.ts";
import type { Journal } from "../host/index.ts";
import type { SessionTable } from "../sessions/index.ts";
import type { ToolContext } from "../tools/index.ts";
import type { FollowedTask } from "./read-task.ts";

/** Makes the parent's call record the usage of the work. */
export async function recordSpent(
	{ journal }: Pick<SessionTable, "journal">,
	task: FollowedTask,
	context: ToolContext,
): Promise<void> {
	const recording = context as Partial<{ spend(spent: Spent): void }>;
	recording.spend?.(await spentBy(journal, task));
}

/** The total usage. */
export function sumSpent(all: readonly Spent[]): Spent {
	return all.reduce((sum, { usage, cost, unpriced }) => ({
		usage: sumUsage(sum.usage, usage),
		cost: sum.cost + cost,
		unpriced: sum.unpriced + unpriced,
	}));
}

/** Returns the usage of the work so far. */
export async function spentBy(journal: Journal, { storeKey, runId }: FollowedTask): Promise<Spent> {
	let usage = emptyUsage();
	let cost = 0;
	let unpriced = 0;
	const { seq = 0 } = (await journal.head(storeKey)) ?? {};
	for await (const entry of entriesBack(journal, storeKey, seq)) {
		if (entry.runId !== runId) continue;
		const { fact } = entry;
		if (fact.kind === "run.started") break;
		if (fact.kind === "assistant") {
			usage = sumUsage(usage, fact.usage);
			cost += fact.cost ?? 0;
			if (fact.cost === undefined) unpriced++;
		}
		if ((fact.kind !== "tool.settled" && fact.kind !== "input") || fact.spent === undefined) continue;
		usage = sumUsage(usage, fact.spent.usage);
		cost += fact.spent.cost;
		unpriced += fact.spent.unpriced;
	}
	return { usage, cost, unpriced };
}
