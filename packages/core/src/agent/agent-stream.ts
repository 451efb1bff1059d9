// agent.stream(): the run is driven at once; the stream is a watcher of it (keeps I1, I7, I8).
import type { Message } from "@holdfast/upp";
import { EventQueue, type GenerateResult } from "../engine/index.ts";
import type { AgentState } from "../state/index.ts";
import { type CallOptions, type CallSetup, startCall } from "./agent-call.ts";
import { type AgentStreamEvent, joinDeltas, uapProjection } from "./uap-events.ts";

/** What `stream` returns: its events, its result, and a way to cancel. Single consumer. @see UAP 11.1 */
export interface AgentStreamResult extends AsyncIterable<AgentStreamEvent> {
	/** Settles also when nobody iterates. */
	readonly result: Promise<GenerateResult>;
	/** Cancels the model call and the tools; `result` rejects with code CANCELLED. Harmless when called again. */
	abort(): void;
}

/** Starts a call and gives its stream. */
export function streamCall(
	setup: CallSetup,
	input: Message,
	state: AgentState,
	options: CallOptions,
): AgentStreamResult {
	const queue = new EventQueue<AgentStreamEvent>({ join: joinDeltas });
	const push = (event: AgentStreamEvent): void => queue.push(event);
	const call = startCall(setup, input, state, options, {
		watcher: { tell: uapProjection(setup.engine.id, push) },
		push,
	});
	call.result.then(
		() => queue.end(),
		(error) => queue.end(call.stopped && isCancelled(error) ? {} : { error }),
	);
	return {
		result: call.result,
		abort: call.stop,
		[Symbol.asyncIterator]: () => queue,
	};
}

function isCancelled(error: unknown): boolean {
	return (error as { code?: unknown } | undefined | null)?.code === "CANCELLED";
}
