// The expected conversation of a session: an independent fold over its facts that shares no code with the engine's. It
// tracks less: the open run, the calls without a result, and the text of each message.
import { AgentState } from "holdfast";
import type { Entry } from "holdfast/host";

/** The compared parts of a message. */
export interface SaidMessage {
	readonly id: string;
	readonly type: string;
	/** Its text, calls and results, as JSON. */
	readonly says: string;
}

interface OpenRun {
	readonly runId: string;
	/** The calls of its step by id, each with its result if it has one. */
	calls: Map<string, Result | undefined>;
	/** Id of the message that the results become; undefined for calls that no model made. */
	resultsId: string | undefined;
}

interface Result {
	readonly toolCallId: string;
	readonly result: unknown;
	readonly isError: boolean;
}

/** The text for calls that a run left without a result. */
const leftOver = "The run ended before this call had a result.";

export class Conversation {
	#messages: SaidMessage[] = [];
	#run: OpenRun | undefined;

	get messages(): readonly SaidMessage[] {
		return this.#messages;
	}

	get openRunId(): string | undefined {
		return this.#run?.runId;
	}

	/** Ids of the open run's calls without a result. */
	get unanswered(): readonly string[] {
		return [...(this.#run?.calls ?? [])].flatMap(([id, result]) => (result === undefined ? [id] : []));
	}

	/** Adds the next entry; returns a description if the entry is invalid at this position. */
	add({ runId, fact }: Entry): string | undefined {
		switch (fact.kind) {
			case "folded":
				this.#messages = messagesOf(fact);
				this.#run = undefined;
				return undefined;
			case "run.started":
				this.#run = { runId, calls: new Map(), resultsId: undefined };
				return undefined;
			case "message.added":
				this.#messages = [...this.#messages, said(fact.message)];
				return undefined;
			case "message.updated":
				this.#messages = this.#messages.map((each) =>
					each.id === fact.messageId ? said(fact.message) : each,
				);
				return undefined;
			case "message.deleted":
				this.#messages = this.#messages.filter(({ id }) => id !== fact.messageId);
				return undefined;
			default:
				return this.#run === undefined ? "belongs to no open run" : this.#within(this.#run, fact);
		}
	}

	#within(run: OpenRun, fact: Entry["fact"]): string | undefined {
		switch (fact.kind) {
			case "input":
				this.#messages.push(said(fact.message));
				return undefined;
			case "assistant":
				this.#messages.push(said(fact.message));
				return this.#begin(run, fact.message.toolCalls ?? [], fact.resultsId);
			case "tools.requested":
				return this.#begin(run, fact.calls, undefined);
			case "tool.started":
				return run.calls.has(fact.callId) ? undefined : `is of the call ${fact.callId}, which nobody made`;
			case "tool.settled": {
				if (!run.calls.has(fact.callId)) return `is of the call ${fact.callId}, which nobody made`;
				const { callId: toolCallId, result, outcome } = fact;
				run.calls.set(toolCallId, { toolCallId, result, isError: outcome !== "done" });
				if (this.unanswered.length === 0) this.#close(run);
				return undefined;
			}
			case "run.ended": {
				const left = this.unanswered;
				for (const toolCallId of left)
					run.calls.set(toolCallId, { toolCallId, result: leftOver, isError: true });
				if (left.length > 0) this.#close(run);
				this.#run = undefined;
				// A process that ends a run from outside does not have the results of calls that run elsewhere.
				return left.length > 0 && fact.outcome !== "killed" && fact.outcome !== "aborted"
					? `leaves calls without a result: ${left.join(", ")}`
					: undefined;
			}
			default:
				return undefined;
		}
	}

	/** Starts the calls of a step; those of the previous step have their results. */
	#begin(
		run: OpenRun,
		calls: readonly { readonly toolCallId: string }[],
		resultsId: string | undefined,
	): string | undefined {
		const left = this.unanswered;
		run.calls = new Map(calls.map(({ toolCallId }) => [toolCallId, undefined]));
		run.resultsId = resultsId;
		return left.length === 0 ? undefined : `comes before the results of ${left.join(", ")}`;
	}

	#close(run: OpenRun): void {
		if (run.resultsId === undefined) return;
		const results = [...run.calls.values()] as Result[];
		this.#messages.push({ id: run.resultsId, type: "tool_result", says: JSON.stringify({ results }) });
	}
}

/** Returns the conversation folded into a fact. */
function messagesOf({ state }: Extract<Entry["fact"], { kind: "folded" }>): SaidMessage[] {
	return AgentState.fromJSON(state).messages.map(said);
}

interface AnyMessage {
	readonly id: string;
	readonly type: string;
	readonly text?: string;
	readonly toolCalls?: readonly { readonly toolCallId: string; readonly toolName: string }[];
	readonly results?: readonly {
		readonly toolCallId: string;
		readonly result: unknown;
		readonly isError?: boolean;
	}[];
}

/** Converts a message for comparison. */
export function said(message: object): SaidMessage {
	const { id, type, text, toolCalls = [], results } = message as AnyMessage;
	const says =
		results === undefined
			? { text, calls: toolCalls.map(({ toolCallId, toolName }) => [toolCallId, toolName]) }
			: {
					results: results.map(({ toolCallId, result, isError = false }) => ({
						toolCallId,
						result,
						isError,
					})),
				};
	return { id, type, says: JSON.stringify(says) };
}

/** Whether two conversations are equal. */
export function sameConversation(one: readonly SaidMessage[], other: readonly SaidMessage[]): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
