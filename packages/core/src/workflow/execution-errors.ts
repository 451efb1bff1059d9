// The errors of a workflow's code, and how its run is parked with them.
import { HoldfastError } from "@holdfast/upp";
import { Parks, type Run } from "../engine/index.ts";
import { errorData, type Fact } from "../facts/index.ts";
import type { Divergence } from "../replayer/index.ts";
import { noteOf } from "./workflow-notes.ts";

/** Other code can continue the run, so it is parked and does not fail. */
export function parks(error: HoldfastError): Parks {
	return new Parks(error.code === "code_diverged" ? "code-diverged" : "code-stuck", error);
}

export function diverged({
	expected,
	came,
}: Omit<Divergence, "came"> & { readonly came: Divergence["came"] | "nothing" }): HoldfastError {
	const named = ({ id, does }: Divergence["expected"]): string => `the ${does} ${JSON.stringify(id)}`;
	const instead =
		came === "nothing" ? "the code makes no call" : "end" in came ? "the code ended" : `${named(came)} came`;
	return new HoldfastError(
		"code_diverged",
		`The code of the workflow no longer matches the record of this run: ${named(expected)} was expected, and ${instead}. Deploy the earlier code, or guard the change with \`flow.version()\`, and then call \`release()\` of the session. If the code did not change, it depends on something that is not recorded: use \`flow.now()\`, \`flow.random()\` and steps.`,
		{
			data: {
				expected,
				came: came === "nothing" ? { does: "nothing" } : "end" in came ? { does: "end" } : came,
			},
		},
	);
}

export function stuck({ runId }: Run): HoldfastError {
	return new HoldfastError(
		"workflow_stuck",
		"The code of the workflow awaits something that is not one of its calls, and that did not happen within 10 seconds. Await timers, requests and other promises inside of a `flow.step()`. Deploy the corrected code, and then call `release()` of the session.",
		{ data: { runId } },
	);
}

/** Creates the outcome of a wait for an event that can never be sent. */
export function unreachable({ id, event }: { readonly id: string; readonly event: string }): Fact {
	const error = new HoldfastError(
		"workflow_event_unreachable",
		`The workflow waits for the event ${JSON.stringify(event)} without a time limit, and nothing can send it: the workflow is a child of another one, or runs without a session. Give \`flow.event()\` a \`timeout\`, wait for the event in the parent and pass it to the child, or start the workflow in a session of its own.`,
	);
	return noteOf.settled({ id, error: errorData(error) });
}

export function openChildren(children: readonly string[]): HoldfastError {
	return new HoldfastError(
		"workflow_open_children",
		`The code of the workflow ended while child workflows were open: ${children.join(", ")}. Await \`result()\` or \`cancel()\` of each child, deploy that code, and then call \`release()\` of the session.`,
		{ data: { children } },
	);
}

export function leftOpen({ runId, sessionKey }: Run, steps: readonly string[]): HoldfastError {
	return new HoldfastError(
		"workflow_left_steps",
		`The workflow in the session ${JSON.stringify(sessionKey)} returned while steps were running: ${steps.join(", ")}. Their signals are aborted and their outcomes are not recorded. Await them.`,
		{ data: { runId, steps } },
	);
}
