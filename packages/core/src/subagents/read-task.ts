// Reads the state of a sub-agent's work from the end of its session's journal, at a cost that does not depend on the
// session's length.
import { failureText } from "@holdfast/upp";
import {
	type Entry,
	entriesBack,
	type JobStatus,
	type OutputVerdict,
	outputTopic,
	type RunStarted,
	readVerdict,
} from "../facts/index.ts";
import type { Journal } from "../host/index.ts";

/** Work for a sub-agent. */
export interface ChildTask {
	/** The store key of its session. */
	readonly storeKey: string;
	/** Id of the run that does the work; the same for every attempt. */
	readonly runId: string;
	readonly prompt: string;
	readonly origin: Pick<RunStarted, "runKind" | "parent" | "caller">;
	/** The first undone message in the history before it. */
	readonly insteadOf?: string | undefined;
}

/** A task whose progress is followed. It has an origin if its parent waits for it. */
export type FollowedTask = Pick<ChildTask, "storeKey" | "runId"> & Partial<Pick<ChildTask, "origin">>;

/** The state of a sub-agent's work. */
export interface TaskState {
	readonly status: JobStatus;
	/**
	 * The last answer, if the work completed; otherwise empty. For an agent with an `output`: the validated output, as
	 * JSON.
	 */
	readonly text: string;
	/** The structured answer, for an agent with an `output`. */
	readonly output?: unknown;
	/** Why the work failed. */
	readonly error?: string;
}

const pageSize = 32;

/** Returns the state of a run in a session. Work without any trace was cancelled before it started. */
export async function readTask(journal: Journal, storeKey: string, runId: string): Promise<TaskState> {
	const head = await journal.head(storeKey);
	if (head?.openRunId === runId) return { status: "running", text: "" };
	let ended: Entry | undefined;
	let verdict: OutputVerdict | undefined;
	for await (const entry of entriesBack(journal, storeKey, head?.seq ?? 0, pageSize)) {
		if (entry.runId !== runId) continue;
		const { fact } = entry;
		if (fact.kind === "run.ended") {
			if (fact.outcome === "error") {
				const { code = "", message = "It failed." } = fact.error ?? {};
				// The provider's own message is for logs only: it may contain keys and account names.
				return { status: "error", text: "", error: failureText(code) ?? message };
			}
			if (fact.outcome !== "completed") return { status: "cancelled", text: "" };
			ended = entry;
		}
		if (fact.kind === "decision" && fact.topic === outputTopic) verdict ??= readVerdict(fact.answer);
		if (ended !== undefined && fact.kind === "assistant") {
			if (verdict?.ok !== true) return { status: "completed", text: fact.message.text };
			const output = Object.hasOwn(verdict, "value") ? verdict.value : fact.data;
			return { status: "completed", text: JSON.stringify(output), output };
		}
		if (fact.kind === "run.started")
			return { status: ended === undefined ? "running" : "completed", text: "" };
	}
	return { status: head !== undefined && head.waiting > 0 ? "queued" : "cancelled", text: "" };
}
