// agent.stream(): drives the run at once; the stream watches it (keeps I1, I7, I8).
import type { Message } from "@holdfast/upp";
import type { AgentStreamResult } from "../engine/index.ts";
import type { AgentState } from "../state/index.ts";
import { type CallOptions, type CallSetup, startCall } from "./agent-call.ts";
import { foreignStream } from "./foreign-calls.ts";
import { StreamEvents } from "./stream-events.ts";

const foreign = foreignStream();

/** Starts a call and returns its stream. */
export function streamCall(
	setup: CallSetup,
	input: Message,
	state: AgentState,
	options: CallOptions,
): AgentStreamResult {
	const events = new StreamEvents(setup.engine.id);
	const call = startCall(setup, input, state, options, {
		watcher: { notify: (event) => events.notify(event) },
		committed: (facts) => events.committed(facts),
		push: (event) => events.push(event),
	});
	call.result.then(
		() => events.end(),
		(error) => events.end(call.wasStopped() && isCancelled(error) ? {} : { error }),
	);
	return Object.assign<object, AgentStreamResult>(Object.create(foreign), {
		result: call.result,
		abort: call.stop,
		[Symbol.asyncIterator]: () => events,
	});
}

function isCancelled(error: unknown): boolean {
	return (error as { code?: unknown } | undefined | null)?.code === "CANCELLED";
}
