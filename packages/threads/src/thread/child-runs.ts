// The runs of a sub-agent: the message that starts one, and its result. A run takes its name from the call that requests
// it, so it starts only once even if the call is started again (keeps I3).
import { UserMessage } from "@holdfast/upp";
import type { Entry } from "holdfast/host";
import type { AttachmentRef, ToolResult } from "../types/index.ts";
import { broughtBack } from "./child-files.ts";
import { evolveFlow, type Flow, initialFlow } from "./flow.ts";
import type { LiveRun } from "./live-run.ts";
import { type MessageData, type Side, withData } from "./message-data.ts";
import { threadNotFound } from "./not-found.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadSystem } from "./system.ts";

/** A message to a child thread. */
interface ChildMessage {
	readonly runId: string;
	readonly text: string;
	readonly files: readonly AttachmentRef[];
	/** Default: the side that receives the parent's messages. */
	readonly to?: Side;
}

/** Delivers a message to a child, once for the run that it names. */
export async function deliver(
	system: ThreadSystem,
	{ id, parent }: ThreadRecord,
	{ runId, text, files }: ChildMessage,
): Promise<void> {
	const to = parent?.to ?? "a";
	const data: MessageData = {
		to,
		...(to === "b" ? { role: "assistant" } : {}),
		...(files.length === 0 ? {} : { attachments: [...files] }),
	};
	const message = new UserMessage(text, { id: `${runId}.message`, metadata: withData(data) });
	const run = await system.session(id).deliver(message, { runId });
	void run?.result().catch(() => {});
}

/** Waits for a run of a child. Its outcome is the result of the call. */
export async function waitFor(
	system: ThreadSystem,
	live: LiveRun,
	{ id }: ThreadRecord,
	runId: string,
	signal: AbortSignal,
): Promise<ToolResult> {
	const entries = await runOf(system, id, runId, signal).catch((error: unknown) => {
		// The child has no waiting caller any longer.
		if (signal.aborted) system.session(id).interrupt();
		throw error;
	});
	const ended = entries.findLast(({ fact }) => fact.kind === "run.ended")?.fact;
	if (ended?.kind === "run.ended" && ended.outcome !== "completed")
		return failure(ended.error?.message ?? `The sub-agent's run was ${ended.outcome}.`);
	const { outcome, response } = entries.reduce<Flow>(
		(flow, entry) => evolveFlow(live.index, flow, entry),
		initialFlow,
	);
	if (outcome?.status === "failure") return failure(outcome.text);
	const given = await broughtBack(system, live.threadId, id, outcome?.attachments ?? []);
	return {
		status: "success",
		result: outcome?.text ?? response,
		...(given.length === 0 ? {} : { attachments: given }),
	};
}

/** Returns the entries of an ended run, which any process may have executed. */
async function runOf(
	{ host, storeKeyOf }: ThreadSystem,
	threadId: string,
	runId: string,
	signal: AbortSignal,
): Promise<readonly Entry[]> {
	const { journal } = host;
	const key = storeKeyOf(threadId);
	const entries: Entry[] = [];
	let after = 0;
	for (;;) {
		signal.throwIfAborted();
		const changed = Promise.withResolvers<void>();
		const resolve = (): void => changed.resolve();
		const stop = journal.watch(key, resolve);
		signal.addEventListener("abort", resolve);
		try {
			for (const entry of await journal.read(key, { after })) {
				after = entry.seq;
				if (entry.runId !== runId) continue;
				entries.push(entry);
				if (entry.fact.kind === "run.ended") return entries;
			}
			// The thread was deleted in the meantime, so its run will not end.
			if ((await journal.head(key)) === undefined) throw threadNotFound(threadId);
			await changed.promise;
		} finally {
			stop();
			signal.removeEventListener("abort", resolve);
		}
	}
}

/** Returns the result of a failed call. */
export function failure(error: string): ToolResult {
	return { status: "error", error };
}
