// agent.stream(): the run is driven at once; the stream is a watcher of it (keeps I1, I7, I8).
import type { Message } from "@holdfast/upp";
import type { AgentStreamResult } from "../engine/index.ts";
import { type AgentStreamEvent, EventQueue, joinDeltas, uapProjection } from "../engine/index.ts";
import type { AgentState } from "../state/index.ts";
import { type CallOptions, type CallSetup, startCall } from "./agent-call.ts";

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
		watcher: { notify: uapProjection(setup.engine.id, push) },
		push,
	});
	call.result.then(
		() => queue.end(),
		(error) => queue.end(call.wasStopped() && isCancelled(error) ? {} : { error }),
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
