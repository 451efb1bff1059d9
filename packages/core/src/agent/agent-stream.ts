// agent.stream(): the run is driven at once; the stream is a watcher of it (keeps I1, I7, I8).
import {
	conclude,
	type DriveOutcome,
	drive,
	EventQueue,
	type GenerateResult,
	type Run,
} from "../engine/index.ts";
import { type AgentStreamEvent, joinDeltas, uapProjection } from "./uap-events.ts";

/** What `stream` returns: its events, its result, and a way to cancel. Single consumer. @see UAP 11.1 */
export interface AgentStreamResult extends AsyncIterable<AgentStreamEvent> {
	/** Settles also when nobody iterates. */
	readonly result: Promise<GenerateResult>;
	/** Cancels the model call and the tools; `result` rejects with code CANCELLED. Harmless when called again. */
	abort(): void;
}

/** Drives a run and gives its stream. */
export function streamRun(run: Run): AgentStreamResult {
	const queue = new EventQueue<AgentStreamEvent>({ join: joinDeltas });
	const project = uapProjection(run.agent.id, (event) => queue.push(event));
	run.watch({ tell: project });
	let outcome: DriveOutcome | undefined;
	const result = drive(run).then((driven) => {
		outcome = driven;
		return conclude(run, driven);
	});
	result.then(
		() => queue.end(),
		(error) => queue.end(outcome?.kind === "ended" && outcome.outcome === "aborted" ? {} : { error }),
	);
	return {
		result,
		// What a finished run handed its signal to may still be at work, on purpose.
		abort: () => {
			if (outcome === undefined) run.stop("interrupt");
		},
		[Symbol.asyncIterator]: () => queue,
	};
}
