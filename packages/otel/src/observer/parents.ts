// Finds the parent span of a sub-agent's run. A parent in flight here is asked; otherwise its run is looked up in the
// journal.
import type { Host, RunEvent } from "holdfast";
import { spanIdOf, traceIdOf } from "../ids/index.ts";
import type { RunParent, RunTrace } from "../spans/index.ts";

type Start = Extract<RunEvent, { type: "run_start" }>;

/** Maximum depth of sub-agents above a run. */
const deepest = 32;

/** Undefined for a run without a parent. */
export async function parentOf(
	host: Pick<Host, "journal" | "runs">,
	{ parent, runKind }: Pick<Start, "parent" | "runKind">,
	traceOf: (runId: string) => RunTrace | undefined,
	depth = 0,
): Promise<RunParent | undefined> {
	if (parent === undefined) return undefined;
	const relation = runKind === "subagent" ? "child" : "link";
	const { runId, toolCallId } = parent;
	const known = traceOf(runId)?.placeOfCall(toolCallId);
	if (known !== undefined) return { ...known, relation };
	const above = depth < deepest ? await startOf(host, runId) : undefined;
	const outer = above && (await parentOf(host, above, traceOf, depth + 1));
	const traceId = outer?.relation === "child" ? outer.traceId : traceIdOf(runId);
	return { traceId, spanId: spanIdOf(runId, `call 1 ${toolCallId}`), relation };
}

/** Returns the start of a run; undefined if it is no longer known. */
async function startOf(
	{ journal, runs }: Pick<Host, "journal" | "runs">,
	runId: string,
): Promise<Pick<Start, "parent" | "runKind"> | undefined> {
	const { place, first } = (await runs?.locate(runId)) ?? {};
	if (place === undefined || first === undefined) return undefined;
	const entries = await Promise.resolve(journal.read(place, { after: first - 1, limit: 1 })).catch(() => []);
	const fact = entries[0]?.fact;
	return fact?.kind === "run.started" ? fact : undefined;
}
