// The record of a workflow in the journal: one note per call and per outcome (keeps I2, I3), and their fold.
import { HoldfastError } from "@holdfast/upp";
import type { Entry, Fact, SessionState } from "../facts/index.ts";
import { outputTopic, workflowSettled, workflowState } from "../facts/index.ts";
import type { CodeOutcome, CodeRecord } from "../replayer/index.ts";
import { List } from "../state/index.ts";
import { readEvent } from "./event-message.ts";
import type { ToolOutcomeOfFlow } from "./flow-call.ts";

/** Topics of the notes. */
const topics = {
	/** The code made a call. */
	called: "workflow-called",
	/** A call has its outcome. */
	settled: workflowSettled,
	/** The code made a call whose outcome is known at once. */
	value: "workflow-value",
	/** A line of the log. */
	log: "workflow-log",
	/** The code published its state. */
	state: workflowState,
	/** The code cancelled a child. */
	cancelled: "workflow-cancelled",
	/** The code begins again with another input. */
	continued: "workflow-continued",
	/** An attempt of a step failed, and it is tried again later. */
	retried: "workflow-retried",
	/** Another attempt of a step begins. */
	started: "workflow-started",
} as const;

/** An error in the record. The code receives it as a `HoldfastError`. */
export interface RecordedError {
	readonly code: string;
	readonly message: string;
	readonly retryable: boolean;
}

/** What the record contains about a call, in addition to its id and kind. */
export interface CallTerms {
	/** For waits: when they end, in milliseconds since the epoch. */
	readonly until?: number;
	/** For a wait for an event: its name. */
	readonly event?: string;
	/** For code that begins again: its input as the text of a message. */
	readonly input?: string;
}

interface CalledNote extends CallTerms {
	readonly id: string;
	readonly does: string;
}

interface SettledNote {
	readonly id: string;
	readonly value?: unknown;
	readonly error?: RecordedError;
	/** The input that ended a wait for an event. */
	readonly inputId?: string;
}

interface ValueNote {
	readonly id: string;
	readonly does: string;
	readonly value?: unknown;
}

interface LogNote {
	readonly id: string;
	readonly message: string;
	readonly data?: unknown;
}

interface StateNote {
	readonly id: string;
	readonly state: unknown;
}

interface CancelledNote {
	readonly id: string;
	/** Id of the call. */
	readonly of: string;
}

interface ContinuedNote {
	readonly id: string;
	/** The input as the text of a message. */
	readonly input: string;
}

interface StartedNote {
	readonly id: string;
	/** Number of the attempt, from 2. */
	readonly attempt: number;
}

/** An attempt of a step that ended without an outcome. */
interface RetriedNote {
	readonly id: string;
	/** Number of that attempt, from 1. */
	readonly attempt: number;
	/** When the next attempt begins, in milliseconds since the epoch. */
	readonly until: number;
	/** Absent if the process died during the attempt. */
	readonly error?: RecordedError;
}

/** An event that was sent to the workflow. */
export interface ReceivedEvent {
	readonly inputId: string;
	readonly name: string;
	readonly payload: unknown;
}

/** An entry of the record in the order of the commits. */
export type WorkflowRecord =
	| { readonly kind: "called"; readonly note: CalledNote }
	| { readonly kind: "settled"; readonly note: SettledNote }
	| { readonly kind: "value"; readonly note: ValueNote }
	| { readonly kind: "cancelled"; readonly note: CancelledNote }
	| { readonly kind: "retried"; readonly note: RetriedNote }
	| { readonly kind: "started"; readonly note: StartedNote }
	| { readonly kind: "tool"; readonly id: string; readonly ended: ToolOutcomeOfFlow }
	| { readonly kind: "event"; readonly event: ReceivedEvent };

/** The fold of a workflow's run. */
export interface WorkflowState {
	/** Text of the message that started the run; undefined until it is taken. */
	readonly input: string | undefined;
	readonly records: List<WorkflowRecord>;
	/** How often the code has begun again. */
	readonly generation: number;
	/** How many received events the code has not waited for. */
	readonly kept: number;
	/** Whether the code has returned. */
	readonly hasEnded: boolean;
}

export const newState: WorkflowState = {
	input: undefined,
	records: List.empty(),
	generation: 0,
	kept: 0,
	hasEnded: false,
};

/** Returns the fold of a run that has been started. */
export function stateOf({ state }: { readonly state: SessionState }): WorkflowState {
	return state.run?.own as WorkflowState;
}

/** Returns the fold after one more entry. Pure, at constant cost (keeps I5). */
export function evolveWorkflow(state: WorkflowState, { fact, runId }: Entry): WorkflowState {
	switch (fact.kind) {
		case "input": {
			const { text } = fact.message;
			if (state.input === undefined) return { ...state, input: text };
			const event = { inputId: fact.inputId, ...readEvent(text) };
			return { ...withRecord(state, { kind: "event", event }), kept: state.kept + 1 };
		}
		case "note": {
			if (fact.topic === topics.continued) return continued(state, fact.value as ContinuedNote);
			const record = recordOf(fact.topic, fact.value);
			if (record === undefined) return state;
			const usesEvent = record.kind === "settled" && record.note.inputId !== undefined;
			return { ...withRecord(state, record), kept: state.kept - (usesEvent ? 1 : 0) };
		}
		case "tool.settled": {
			const id = codeIdOf(runId, state, fact.callId);
			if (id === undefined) return state;
			const { outcome, result, approved } = fact;
			const ended = approved === undefined ? { outcome, result } : { outcome, result, approved };
			return withRecord(state, { kind: "tool", id, ended });
		}
		case "decision":
			return fact.topic === outputTopic ? { ...state, hasEnded: true } : state;
		default:
			return state;
	}
}

/** Returns the id of a call of the code, unique within its run. */
export function idInRun({ generation }: Pick<WorkflowState, "generation">, id: string): string {
	return generation === 0 ? id : `${generation}~${id}`;
}

/** Returns the id of a tool call of the code, unique in its session. */
export function toolCallIdOf(runId: string, state: Pick<WorkflowState, "generation">, id: string): string {
	return `${runId}:${idInRun(state, id)}`;
}

function codeIdOf(runId: string, state: WorkflowState, toolCallId: string): string | undefined {
	const prefix = toolCallIdOf(runId, state, "");
	return toolCallId.startsWith(prefix) ? toolCallId.slice(prefix.length) : undefined;
}

/** Returns the state of code that begins again. Events that nothing has waited for are kept. */
function continued(state: WorkflowState, { input }: ContinuedNote): WorkflowState {
	const used = new Set<string>();
	for (const record of state.records.from(0))
		if (record.kind === "settled" && record.note.inputId !== undefined) used.add(record.note.inputId);
	let records: WorkflowState["records"] = List.empty();
	for (const record of state.records.from(0))
		if (record.kind === "event" && !used.has(record.event.inputId)) records = records.append(record);
	const generation = state.generation + 1;
	return { input, records, generation, kept: records.length, hasEnded: false };
}

function withRecord(state: WorkflowState, record: WorkflowRecord): WorkflowState {
	return { ...state, records: state.records.append(record) };
}

function recordOf(topic: string, value: unknown): WorkflowRecord | undefined {
	switch (topic) {
		case topics.called:
			return { kind: "called", note: value as CalledNote };
		case topics.settled:
			return { kind: "settled", note: value as SettledNote };
		case topics.value:
			return { kind: "value", note: value as ValueNote };
		case topics.log:
			return { kind: "value", note: { id: (value as LogNote).id, does: "log" } };
		case topics.state:
			return { kind: "value", note: { id: (value as StateNote).id, does: "state" } };
		case topics.cancelled:
			return { kind: "cancelled", note: value as CancelledNote };
		case topics.retried:
			return { kind: "retried", note: value as RetriedNote };
		case topics.started:
			return { kind: "started", note: value as StartedNote };
		default:
			return undefined;
	}
}

/** Returns what the code's replayer takes of a record. */
export function codeRecords(record: WorkflowRecord): readonly CodeRecord[] {
	switch (record.kind) {
		case "called":
			return [{ kind: "called", id: record.note.id, does: record.note.does }];
		case "settled":
			return [{ kind: "settled", id: record.note.id, outcome: outcomeOf(record.note) }];
		case "value": {
			const { id, does, value } = record.note;
			return [
				{ kind: "called", id, does },
				{ kind: "settled", id, outcome: { ok: true, value } },
			];
		}
		case "cancelled": {
			const { id } = record.note;
			return [
				{ kind: "called", id, does: "cancel" },
				{ kind: "settled", id, outcome: { ok: true, value: undefined } },
			];
		}
		case "tool":
			return [{ kind: "settled", id: record.id, outcome: { ok: true, value: record.ended } }];
		default:
			return [];
	}
}

function outcomeOf({ value, error }: SettledNote): CodeOutcome {
	return error === undefined ? { ok: true, value } : { ok: false, error: errorOf(error) };
}

/** The same error in the process where it occurred and in every other one. */
function errorOf({ code, message, retryable }: RecordedError): HoldfastError {
	return Object.assign(new HoldfastError("step_failed", message, { retryable }), { code });
}

/** Creates the facts of the record. */
export const noteOf = {
	called: (note: CalledNote): Fact => fact(topics.called, note),
	settled: (note: SettledNote): Fact => fact(topics.settled, note),
	value: (note: ValueNote): Fact => fact(topics.value, note),
	log: (note: LogNote): Fact => fact(topics.log, note),
	state: (note: StateNote): Fact => fact(topics.state, note),
	cancelled: (note: CancelledNote): Fact => fact(topics.cancelled, note),
	continued: (note: ContinuedNote): Fact => fact(topics.continued, note),
	retried: (note: RetriedNote): Fact => fact(topics.retried, note),
	started: (note: StartedNote): Fact => fact(topics.started, note),
};

function fact(topic: string, value: unknown): Fact {
	return { kind: "note", step: 0, topic, value };
}

/** The note of a value. Values that others see have a topic of their own. */
export function valueNote(
	id: string,
	does: string,
	topic: "log" | "state" | undefined,
	value: unknown,
): Fact {
	if (topic === undefined) return noteOf.value({ id, does, value });
	return noteOf[topic]({ id, ...(value as { readonly message: string; readonly state: unknown }) });
}
