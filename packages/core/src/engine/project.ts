// project: what watchers are told of a committed entry. Pure: following a journal gives the same events as being there.
import type { Entry } from "../journal/fact.ts";
import type { RunEvent } from "./events.ts";
import type { SessionState } from "./session-state.ts";

/** The event of an entry, given the state after it; undefined for entries that watchers are not told of. */
export function project(
	state: SessionState,
	entry: Entry,
	sessionKey: string | undefined,
): RunEvent | undefined {
	const { seq, fact, runId } = entry;
	const sub = 0;
	switch (fact.kind) {
		case "run.started":
		case "run.resumed":
			return {
				type: "run_start",
				seq,
				sub,
				runId,
				...(sessionKey === undefined ? {} : { sessionKey }),
				runKind: state.run?.started.runKind ?? "user-turn",
				attempt: state.run?.attempt ?? 1,
			};
		case "input":
			return { type: "input", seq, sub, placement: fact.placement, shape: fact.shape, message: fact.message };
		case "assistant":
			return {
				type: "message",
				seq,
				sub,
				step: fact.step,
				tag: fact.tag,
				message: fact.message,
				usage: fact.usage,
				stopReason: fact.stopReason,
				modelId: fact.modelId,
				duration: fact.duration,
				...(fact.cost === undefined ? {} : { cost: fact.cost }),
			};
		case "tool.started": {
			const { call, index } = find(state, fact.callId);
			return {
				type: "tool_start",
				seq,
				sub,
				step: fact.step,
				index,
				call,
				input: fact.input ?? call.arguments,
				attempt: fact.attempt,
			};
		}
		case "tool.settled": {
			const { call, index } = find(state, fact.callId);
			return {
				type: "tool_end",
				seq,
				sub,
				step: fact.step,
				index,
				call,
				outcome: fact.outcome,
				result: fact.result,
				...(fact.details === undefined ? {} : { details: fact.details }),
				duration: fact.duration,
			};
		}
		case "note":
			return { type: "note", seq, sub, step: fact.step, topic: fact.topic, value: fact.value };
		case "waiting": {
			const calls = fact.calls.map((callId) => find(state, callId).call);
			return { type: "waiting", seq, sub, calls };
		}
		case "run.ended": {
			const run = state.run;
			return {
				type: "run_end",
				seq,
				sub,
				runId,
				outcome: fact.outcome,
				...(fact.error === undefined ? {} : { error: fact.error }),
				...(fact.partial === undefined ? {} : { partial: fact.partial }),
				usage: run?.usage ?? { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
				steps: run?.step ?? 0,
				...(run === undefined || run.unpriced > 0 ? {} : { cost: run.cost }),
			};
		}
		default:
			return undefined;
	}
}

function find(state: SessionState, callId: string) {
	const calls = state.run?.calls ?? [];
	const index = calls.findIndex((each) => each.call.toolCallId === callId);
	const call = calls[index]?.call ?? { toolCallId: callId, toolName: "", arguments: {} };
	return { call, index };
}
