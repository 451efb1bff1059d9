// A thread as a decider: which side acts next is derived from the fold alone (keeps I1, I6).
import { HoldfastError } from "holdfast";
import { type Action, type DecidingStrategy, type QuestionContext, strategy } from "holdfast/execution";
import type { Entry } from "holdfast/host";
import { type BeginAnswer, type Flow, type FlowRules, initialFlow, queuedTag, topics } from "./flow.ts";

/** The parts of the thread that a decider needs. */
export interface DeciderParts extends FlowRules {
	/** Returns the flow of an execution after one more entry: `evolveFlow` with these rules. */
	flowAfter(flow: Flow, entry: Entry): Flow;
	/** Returns which agent acts, and whether it may. */
	begin(context: QuestionContext): Promise<BeginAnswer>;
	/** Reports the end of the session to the thread that requested it. Repeating it changes nothing. */
	report(context: QuestionContext): Promise<unknown>;
}

/** Returns the strategy of all threads of a project. */
export function threadStrategy(parts: DeciderParts): DecidingStrategy {
	return strategy<Flow>({
		name: "thread",
		limitsSteps: true,
		initial: () => initialFlow,
		evolve: (flow, entry) => parts.flowAfter(flow, entry),
		decide: ({ own }) => next(parts, own),
	});
}

function next(parts: DeciderParts, flow: Flow): Action {
	if (!flow.isBegun)
		return { kind: "ask", topic: topics.begin, question: (_, context) => parts.begin(context) };
	if (flow.refusal !== undefined) return { kind: "finish" };
	if (flow.isCapped) {
		const value = { reason: "The turn reached the runtime's limit of model calls.", limit: parts.stepCap };
		return { kind: "note", topic: topics.cap, value };
	}
	if (flow.queue.length > 0 && flow.stoppedBy === undefined)
		return { kind: "model", tag: queuedTag, step: "next" };
	if (flow.isOver) {
		if (flow.reports && !flow.isReported)
			return { kind: "ask", topic: topics.report, question: (_, context) => parts.report(context) };
		return { kind: "finish" };
	}
	if (parts.agent(flow.agent) === undefined) return { kind: "finish", error: agentIsGone(flow.agent) };
	return { kind: "model", tag: flow.side, step: "next" };
}

/** Returns the error of a thread whose agent is not in the project. */
export function agentIsGone(name: string): HoldfastError {
	return new HoldfastError(
		"agent_not_found",
		`The project has no agent ${JSON.stringify(name)}. Name one of its agents, or restore the file.`,
		{ data: { name } },
	);
}
