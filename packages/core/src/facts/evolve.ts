// evolve: (state, fact) → state, the only way to produce state (keeps I2). Pure, and constant in cost (keeps I5).
import {
	HoldfastError,
	type Message,
	type MessageOptions,
	sumUsage,
	type TokenUsage,
	type ToolCall,
	type ToolExecution,
	type ToolResult,
	ToolResultMessage,
} from "@holdfast/upp";
import { AgentState, type AgentStateParts, callIdsOf, withCalls, withLoaded } from "../state/index.ts";
import { CallStates, noCalls } from "./call-states.ts";
import { cutHistory, editMessage } from "./edit-message.ts";
import type { Entry, ToolCallOutcome, ToolSettled } from "./fact.ts";
import { isProgress, lastOfNote, note } from "./fold-note.ts";
import { unfold } from "./folded-state.ts";
import type { Mutable } from "./mutable.ts";
import { waitingRun, withoutChild, withPending, withSpent } from "./nested-waits.ts";
import { isHidden, type OwnFold, OwnFoldFailed } from "./own-fold.ts";
import { withoutRefusedFiles } from "./refused-files.ts";
import { uncheckedOutput } from "./run-output.ts";
import {
	type CallState,
	decided,
	type LastFact,
	newCalls,
	type RunState,
	shownCall,
	startedCall,
	suspendedRun,
} from "./run-state.ts";
import { type SentPrefix, sentBy } from "./sent-prefix.ts";
import { type FoldOptions, resumedSession, type SessionState, startedSession } from "./session-state.ts";

/** The message stored as the result of a call that was interrupted. */
const withoutResult = "The run ended before this call had a result.";

/**
 * Returns the state after one more entry.
 * @throws HoldfastError `journal_corrupt` if the entry cannot follow the state.
 */
export function evolve(state: SessionState, entry: Entry, options: FoldOptions): SessionState {
	const next = withFact(state, entry, options);
	return options.own === undefined ? next : withOwn(state, next, entry, options.own);
}

/** Committed facts remain: if the strategy's fold throws, the run fails the next time the strategy is asked. */
function withOwn(before: SessionState, next: SessionState, entry: Entry, fold: OwnFold): SessionState {
	const { run } = next;
	if (run === undefined || run.runId !== entry.runId || isHidden(entry.fact, before.run)) return next;
	const own = ownAfter(before.run, entry, fold);
	if (own === run.own) return next;
	if (run === before.run) return { ...next, run: { ...run, own } };
	// The run was created for this entry and is not shared yet. A copy per fact would cost more than the fact itself.
	(run as { own: unknown }).own = own;
	return next;
}

function ownAfter(before: RunState | undefined, entry: Entry, fold: OwnFold): unknown {
	try {
		const own = entry.fact.kind === "run.started" ? fold.initial() : before?.own;
		return own instanceof OwnFoldFailed ? own : fold.evolve(own, entry);
	} catch (error) {
		return new OwnFoldFailed(error);
	}
}

function withFact(state: SessionState, entry: Entry, options: FoldOptions): SessionState {
	const { fact, seq } = entry;
	if (fact.kind === "folded") return unfold(seq, fact, options);
	if (seq !== state.seq + 1) throw corrupt(entry, `expected entry ${state.seq + 1}`);
	if (fact.kind === "run.started") return startedSession(state, entry.runId, seq, fact);
	if (fact.kind === "message.added") return { ...append(state, state.run, seq, fact.message), seq };
	if (fact.kind === "message.updated" || fact.kind === "message.deleted")
		return editMessage(
			state,
			seq,
			fact.messageId,
			fact.kind === "message.updated" ? fact.message : undefined,
		);
	if (fact.kind === "history.cut") return { ...cutHistory(state, fact.messageId), seq };
	const { run } = state;
	if (run === undefined || run.runId !== entry.runId)
		throw corrupt(entry, "it does not belong to an open run");
	switch (fact.kind) {
		case "run.resumed":
			return resumedSession(state, run, seq, fact);
		case "run.parked":
			return { ...state, seq, run: { ...run, parked: fact } };
		case "input":
			return append(
				state,
				{
					...withSpent(run, fact),
					inputId: run.inputId === "" ? fact.message.id : run.inputId,
					status: "running",
					wait: undefined,
					last: { kind: "input", tag: fact.placement },
				},
				seq,
				fact.message,
			);
		case "assistant": {
			const toolCalls = fact.message.toolCalls ?? [];
			const usage = sumUsage(run.usage, fact.usage);
			const answered: RunState = {
				...run,
				step: fact.step,
				executionsBefore: fact.step === run.step ? run.executionsBefore : run.executions.length,
				last: { kind: "assistant", tag: fact.tag },
				assistant: fact,
				requested: undefined,
				wait: undefined,
				calls: toolCalls.length === 0 ? noCalls : CallStates.of(newCalls(fact, state.agent)),
				unsettled: toolCalls.length,
				crashes: toolCalls.length === 0 ? 0 : run.crashes,
				usage,
				cycles: run.cycles + 1,
				lastCycle: {
					step: fact.step,
					usage: fact.usage,
					cacheBreak: fact.cacheBreak,
					before: run.lastCycle,
				},
				cost: run.cost + (fact.cost ?? 0),
				output: run.output && uncheckedOutput(run.output),
				unpriced: run.unpriced + (fact.cost === undefined ? 1 : 0),
			};
			const { context, sent: before } = state;
			const sent = sentBy(before, fact.fingerprint ?? run.fingerprint, context.length, fact);
			return append(state, answered, seq, fact.message, { step: fact.step, usage, sent });
		}
		case "tools.requested": {
			const { step, tag } = fact;
			const fresh = newCalls(fact, state.agent);
			const requested: RunState = {
				...run,
				step,
				executionsBefore: step === run.step ? run.executionsBefore : run.executions.length,
				last: { kind: "requested", tag },
				requested: fact,
				wait: undefined,
				// Code may add calls to a round that is still open.
				calls: run.unsettled > 0 ? run.calls.append(fresh) : CallStates.of(fresh),
				unsettled: run.unsettled + fact.calls.length,
			};
			const parts = AgentState.partsOf(state.agent);
			const callIds = withCalls(callIdsOf(parts), fact.calls);
			return { ...state, seq, agent: AgentState.ofParts({ ...parts, step, callIds }), run: requested };
		}
		case "tool.started": {
			const calls = replaceCall(run, entry, fact.callId, (call) =>
				call.neverRan === undefined ? { ...call, started: fact } : startedCall(call, fact),
			);
			return { ...state, seq, run: withoutChild({ ...run, calls }, fact.callId) };
		}
		case "tool.settled": {
			const calls = replaceCall(run, entry, fact.callId, (call) => {
				if (call.settled !== undefined) throw corrupt(entry, `call ${fact.callId} already has its result`);
				return { ...call, settled: fact };
			});
			const unsettled = run.unsettled - 1;
			const spent = withSpent(run, fact);
			const told = withLoads(
				fact.streamed === undefined ? state : { ...state, streamed: state.streamed + fact.streamed },
				fact.loads,
			);
			if (unsettled > 0)
				return { ...told, seq, run: withoutChild({ ...spent, calls, unsettled }, fact.callId) };
			return closeRound(told, spent, calls, entry, options);
		}
		case "decision":
			// A call that was approved still has to run: deciders are not asked before that.
			if (fact.topic === "approval") {
				const { callId, approved, ...approval } = fact.answer as { callId: string; approved: boolean };
				if (!approved) return { ...state, seq };
				const calls = replaceCall(run, entry, callId, (call) => ({ ...call, approval }));
				return { ...state, seq, run: { ...run, calls } };
			}
			return { ...state, seq, run: decided(run, fact) };
		case "note":
			// Neither a deliberate suspension nor a retry is a step of the work, so deciders do not see them.
			if (fact.topic === "model-retry") return { ...state, seq };
			if (fact.topic === "suspended")
				return { ...state, seq, run: suspendedRun(run, fact.value, startOfAsides(state)) };
			if (fact.aside === true) {
				const asides = { from: startOfAsides(state), until: seq };
				return { ...note(state, fact.topic, fact.value), seq, run: { ...run, asides } };
			}
			return {
				...note(state, fact.topic, fact.value),
				seq,
				run: {
					...run,
					wait: undefined,
					step: fact.step,
					last: lastOfNote(fact),
					crashes: isProgress(fact) ? 0 : run.crashes,
				},
			};
		case "tools.pending":
			return { ...state, seq, run: withPending(run, fact) };
		case "waiting":
			return { ...state, seq, run: waitingRun(run, fact) };
		case "wait.ended": {
			// Strategies do not see that their model was unreachable. Until it answers, `wait` counts its failures.
			if (run.wait?.model !== undefined) return { ...state, seq, run: { ...run, status: "running" } };
			const last: LastFact = { kind: "wait", tag: fact.tag, value: fact.until };
			return { ...state, seq, run: { ...run, status: "running", wait: undefined, last } };
		}
		case "run.ended": {
			let ended = state;
			if (run.unsettled > 0) {
				// A killed run leaves calls open: a history never holds a call without a result.
				const calls = run.calls.changed((call) =>
					call.settled ? call : { ...call, settled: unanswered(run, call) },
				);
				ended = closeRound(state, run, calls, entry, options);
			}
			const over: Mutable<RunState> = { ...(ended.run as RunState), status: fact.outcome };
			if (fact.error !== undefined) over.error = fact.error;
			if (fact.partial !== undefined) over.partial = fact.partial;
			// An ended run is not parked.
			if (over.parked !== undefined) over.parked = undefined;
			return { ...withoutRefusedFiles(ended, fact.error), seq, run: over };
		}
	}
}

function withLoads(state: SessionState, names: readonly string[] | undefined): SessionState {
	if (names === undefined) return state;
	const parts = AgentState.partsOf(state.agent);
	const loadedTools = withLoaded(parts.loadedTools, names);
	return { ...state, agent: AgentState.ofParts({ ...parts, loadedTools }) };
}

function append(
	state: SessionState,
	run: RunState | undefined,
	seq: number,
	message: Message,
	change?: { step: number; usage: TokenUsage; sent: SentPrefix },
	shown: Message = message,
): SessionState {
	const parts = AgentState.partsOf(state.agent);
	const messages = parts.messages.append(message);
	const { step, usage } = change ?? parts;
	const same = state.context === parts.messages && shown === message;
	return {
		seq,
		agent: AgentState.ofParts({ ...parts, messages, step, usage, callIds: callIdsWith(parts, message) }),
		context: same ? messages : state.context.append(shown),
		run,
		streamed: state.streamed,
		sent: change?.sent ?? state.sent,
		system: state.system,
	};
}

/** Adds the ids of a message's calls to those of all earlier calls. */
function callIdsWith(parts: AgentStateParts, message: Message): AgentStateParts["callIds"] {
	const { toolCalls } = message as { toolCalls?: readonly ToolCall[] };
	return toolCalls === undefined ? parts.callIds : withCalls(callIdsOf(parts), toolCalls);
}

/** Closes the round: all calls of the step have results, which become one message, in call order. */
function closeRound(
	state: SessionState,
	run: RunState,
	calls: CallStates,
	{ seq, at }: Entry,
	options: FoldOptions,
): SessionState {
	const over = calls.list as readonly SettledCall[];
	// Created in one piece: a list that grew reserves space for sixteen more items, and this one is kept with the
	// history.
	const results = over.map(resultOf);
	let executions = run.executions;
	for (const { call, started, settled } of over) {
		const execution: ToolExecution = {
			toolName: call.toolName,
			// A strategy finds its own calls by the ids that it assigned.
			toolCallId: run.requested === undefined ? call.toolCallId : (call.providerCall?.id ?? call.toolCallId),
			arguments: (started?.input as Record<string, unknown> | undefined) ?? shownArguments(run, call),
			result: settled.result,
			isError: settled.outcome !== "done",
			duration: settled.duration,
		};
		if (settled.approved !== undefined) execution.approved = settled.approved;
		if (settled.stack !== undefined) execution.stack = settled.stack;
		executions = executions.append(execution);
	}
	const identity: MessageOptions = { timestamp: new Date(at) };
	if (run.assistant?.resultsId !== undefined) identity.id = run.assistant.resultsId;
	const message = new ToolResultMessage(results, identity);
	const closed: RunState = {
		...run,
		calls,
		unsettled: 0,
		pending: undefined,
		shows: undefined,
		children: undefined,
		rounds: run.rounds + 1,
		crashes: over.some(({ settled }) => settled.outcome === "unknown") ? run.crashes : 0,
		last: { kind: "results", tag: (run.requested ?? run.assistant)?.tag ?? "act" },
		executions,
	};
	// No model made these calls: the history contains neither the calls nor the results.
	if (run.requested !== undefined) return { ...state, seq, run: closed };
	const shown = shownResults(over, results, options);
	const visible = shown === results ? message : new ToolResultMessage(shown, identity);
	return append(state, closed, seq, message, undefined, visible);
}

/** Returns the results as the model sees them; the same list if none is cut. */
function shownResults(
	calls: readonly SettledCall[],
	results: readonly ToolResult[],
	options: FoldOptions,
): readonly ToolResult[] {
	let shown: ToolResult[] | undefined;
	for (let index = 0; index < calls.length; index++) {
		const { call, settled } = calls[index] as SettledCall;
		const visible = options.show(call.toolName, settled.result);
		if (visible === settled.result) continue;
		shown ??= results.slice();
		shown[index] = { ...(results[index] as ToolResult), result: visible };
	}
	return shown ?? results;
}

/** Returns the input that was shown for a call with an outside answer. */
function shownArguments({ pending }: RunState, call: ToolCall): ToolCall["arguments"] {
	const shown = pending?.find(({ callId }) => callId === call.toolCallId);
	return shown === undefined ? call.arguments : shownCall(call, shown).arguments;
}

type SettledCall = CallState & { readonly settled: ToolSettled };

function resultOf({ call, settled }: SettledCall): ToolResult {
	const result: ToolResult = { toolCallId: call.toolCallId, result: settled.result };
	if (settled.outcome !== "done") result.isError = true;
	if (settled.denied !== undefined && settled.outcome === "error") result.denied = true;
	if (settled.metadata !== undefined) result.metadata = settled.metadata;
	return result;
}

function unanswered(run: RunState, call: CallState): ToolSettled {
	const outcome: ToolCallOutcome =
		call.started === undefined || call.neverRan === true ? "cancelled" : "unknown";
	return {
		kind: "tool.settled",
		step: run.step,
		callId: call.call.toolCallId,
		outcome,
		result: withoutResult,
		duration: 0,
	};
}

function replaceCall(
	run: RunState,
	entry: Entry,
	callId: string,
	change: (call: CallState) => CallState,
): CallStates {
	const at = run.calls.indexOf(callId);
	const call = run.calls.at(at);
	if (call === undefined) throw corrupt(entry, `the step has no call ${callId}`);
	return run.calls.with(at, change(call));
}

/** Returns the entry before the trailing notes of policy. */
function startOfAsides({ seq, run }: SessionState): number {
	return run?.asides?.until === seq ? run.asides.from : seq;
}

function corrupt(entry: Entry, why: string): HoldfastError {
	return new HoldfastError(
		"journal_corrupt",
		`Entry ${entry.seq} (${entry.fact.kind}) is in an impossible position: ${why}. The journal was changed from outside; restore a backup.`,
		{ data: { seq: entry.seq, kind: entry.fact.kind } },
	);
}
