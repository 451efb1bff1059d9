// The flow of an execution: a pure fold of the facts of its run (keeps I2, I6). A turn ends when one side finishes. An
// execution of an `ai_human` agent is one turn; an execution of a `dual_ai` agent has as many turns as it takes until a
// stop condition ends the session.
import type { ToolCall } from "@holdfast/upp";
import type { Entry } from "holdfast/host";
import type { AgentDefinition, AttachmentRef, SessionToolConfig, SideConfig } from "../types/index.ts";
import { type Control, dataOf, type Side } from "./message-data.ts";
import { readResult, resultText, type StoredResult } from "./row.ts";

/** A call that was queued in addition to the model's own. */
export type QueuedCall = Extract<Control, { kind: "tool" }>;

/** How a session ended. */
export interface SessionOutcome {
	readonly status: "success" | "failure";
	readonly text: string;
	readonly attachments: readonly AttachmentRef[];
}

/** The flow of an execution. */
export interface Flow {
	/** Whether the agent of the execution is known. */
	readonly isBegun: boolean;
	/** The reason why the agent must not act, if any. */
	readonly refusal?: string;
	/** Whether its end is to be reported to the thread that requested it. */
	readonly reports: boolean;
	readonly isReported: boolean;
	readonly agent: string;
	readonly side: Side;
	/** Model calls of each side. */
	readonly steps: Readonly<Record<Side, number>>;
	/** Model calls of the turn. */
	readonly turnSteps: number;
	/** Finished turns. */
	readonly turns: number;
	/** Seq of the entry that started the turn. */
	readonly turnSeq: number;
	/** Whether nothing is left to do until a new message arrives. */
	readonly isOver: boolean;
	/** The text of the last finished turn. */
	readonly response: string;
	readonly outcome?: SessionOutcome;
	readonly queue: readonly QueuedCall[];
	readonly stoppedBy?: Side;
	/** Set if the runtime's own limit ended the turn, until that is recorded. */
	readonly isCapped: boolean;
	/** The calls whose results are awaited, and the results so far. */
	readonly calls: readonly ToolCall[];
	readonly results: readonly SettledCall[];
	/** Whether these calls were queued, and no model made them. */
	readonly isQueued: boolean;
}

interface SettledCall {
	readonly call: ToolCall;
	readonly result: StoredResult;
	readonly isError: boolean;
}

/** The result of starting an execution. */
export interface BeginAnswer {
	readonly agent: string;
	readonly reports: boolean;
	readonly refusal?: string;
}

/** Topics of records other than messages. */
export const topics = { begin: "threads.begin", report: "threads.report", cap: "threads.step-cap" } as const;

/** The tag of a queued call's message. */
export const queuedTag = "queued";

/** The inputs of a flow in addition to the facts. */
export interface FlowRules {
	/** Returns the definition of an agent; undefined if it no longer exists. */
	agent(name: string): AgentDefinition | undefined;
	/** Model calls after which a turn without its own limit ends. */
	readonly stepCap: number;
}

/** The flow before the first fact. */
export const initialFlow: Flow = {
	isBegun: false,
	reports: false,
	isReported: false,
	agent: "",
	side: "a",
	steps: { a: 0, b: 0 },
	turnSteps: 0,
	turns: 0,
	turnSeq: 0,
	isOver: false,
	response: "",
	queue: [],
	isCapped: false,
	calls: [],
	results: [],
	isQueued: false,
};

/** Returns the flow of an execution after one more fact. */
export function evolveFlow(rules: FlowRules, flow: Flow, { seq, fact }: Entry): Flow {
	switch (fact.kind) {
		case "input":
			return said(flow, seq, dataOf(fact.message));
		case "decision":
			if (fact.topic === topics.begin) return { ...flow, isBegun: true, ...(fact.answer as BeginAnswer) };
			return fact.topic === topics.report ? { ...flow, isReported: true } : flow;
		case "note":
			return fact.topic === topics.cap ? { ...flow, isCapped: false } : flow;
		case "assistant": {
			const calls = fact.message.toolCalls ?? [];
			if (fact.tag === queuedTag)
				return { ...flow, calls, results: [], isQueued: true, queue: flow.queue.slice(1) };
			const { side } = flow;
			const asked: Flow = {
				...flow,
				calls,
				results: [],
				isQueued: false,
				steps: { ...flow.steps, [side]: flow.steps[side] + 1 },
				turnSteps: flow.turnSteps + 1,
			};
			return calls.length > 0 ? asked : replied(rules, asked, seq, fact.message.text);
		}
		case "tool.settled": {
			const call = flow.calls.find(({ toolCallId }) => toolCallId === fact.callId);
			if (call === undefined) return flow;
			const isError = fact.outcome !== "done";
			const result = readResult(fact.result, isError);
			const results = [...flow.results, { call, result, isError }];
			const settled = { ...flow, results };
			return results.length < flow.calls.length ? settled : roundOver(rules, settled, seq);
		}
		case "run.started":
		case "run.resumed":
		case "run.parked":
		case "tools.requested":
		case "tool.started":
		case "tools.pending":
		case "waiting":
		case "wait.ended":
		case "message.added":
		case "message.updated":
		case "message.deleted":
		case "history.cut":
		case "run.ended":
		case "folded":
			return flow;
		default:
			fact satisfies never;
			return flow;
	}
}

/** Applies a message, or a control input of the thread. */
function said(flow: Flow, seq: number, { control, to, silent: _ }: ReturnType<typeof dataOf>): Flow {
	if (control?.kind === "stop") return { ...flow, stoppedBy: flow.stoppedBy ?? flow.side, isOver: true };
	const reopened = flow.isOver ? turnBegins({ ...flow, isOver: false, turns: 0 }, seq, "a") : flow;
	const { outcome: _outcome, stoppedBy: _by, ...open } = { ...reopened, isReported: false };
	const turn = open.turnSeq === 0 ? { ...open, turnSeq: seq } : open;
	if (control?.kind === "tool") return { ...turn, queue: [...turn.queue, control] };
	if (control?.kind === "turn") return turnBegins(turn, seq, control.side);
	return to === undefined ? turn : { ...turn, side: to };
}

function turnBegins(flow: Flow, seq: number, side: Side): Flow {
	return { ...flow, side, turnSteps: 0, turnSeq: seq };
}

/** Applies a reply without calls. */
function replied(rules: FlowRules, flow: Flow, seq: number, text: string): Flow {
	const { config } = sideOf(rules, flow);
	if (config?.stopOnResponse !== false) return turnOver(rules, { ...flow, response: text }, seq);
	return limited(rules, { ...flow, response: text }, seq);
}

/** Applies the end of a round: all calls of a reply have their results. */
function roundOver(rules: FlowRules, flow: Flow, seq: number): Flow {
	let next: Flow = { ...flow, calls: [], results: [] };
	const { config } = sideOf(rules, flow);
	let endsTurn = false;
	for (const { call, result, isError } of flow.results) {
		const { signals } = result;
		if (signals?.handoff !== undefined) next = turnBegins({ ...next, agent: signals.handoff }, seq, "a");
		if (signals?.turn !== undefined) next = turnBegins(next, seq, signals.turn);
		if (signals?.stop !== undefined) next = { ...next, stoppedBy: signals.stop, isOver: true };
		if (isError || config === undefined) continue;
		const { toolName } = call;
		if (toolName === config.stopTool) {
			endsTurn = true;
			next = { ...next, response: stopResponse(result, config.stopToolResponseProperty) };
		}
		const success = outcomeOf(config.sessionStop, call, result, "success");
		const outcome = success ?? outcomeOf(config.sessionFail, call, result, "failure");
		if (outcome !== undefined) next = { ...next, outcome, response: outcome.text, isOver: true };
	}
	if (next.isOver || next.turnSeq !== flow.turnSeq) return next;
	if (endsTurn) return turnOver(rules, next, seq);
	return flow.isQueued ? next : limited(rules, next, seq);
}

/** Ends the turn if its limit is reached. */
function limited(rules: FlowRules, flow: Flow, seq: number): Flow {
	const { config } = sideOf(rules, flow);
	const limit = config?.maxSteps ?? rules.stepCap;
	if (flow.turnSteps < limit) return flow;
	const isCapped = config?.maxSteps === undefined;
	return turnOver(rules, { ...flow, isCapped: flow.isCapped || isCapped }, seq);
}

/** Applies the end of a turn: either the session ends, or the other side takes its turn. */
function turnOver(rules: FlowRules, flow: Flow, seq: number): Flow {
	const turns = flow.turns + 1;
	const agent = rules.agent(flow.agent);
	const isLast = agent?.type !== "dual_ai" || turns >= (agent.maxSessionTurns ?? Number.POSITIVE_INFINITY);
	if (isLast) return { ...flow, turns, isOver: true };
	return turnBegins({ ...flow, turns }, seq, flow.side === "a" ? "b" : "a");
}

/** Returns the configuration of the acting side. */
export function sideOf(
	rules: FlowRules,
	{ agent: name, side }: Pick<Flow, "agent" | "side">,
): { readonly agent: AgentDefinition | undefined; readonly config: SideConfig | undefined } {
	const agent = rules.agent(name);
	return { agent, config: side === "a" ? agent?.sideA : agent?.sideB };
}

/** Returns the response that a turn-ending tool's result provides. */
export function stopResponse(result: StoredResult, property: string | undefined): string {
	const whole = resultText(result);
	if (property === undefined) return whole;
	const value = (parsed(whole) as Record<string, unknown> | undefined)?.[property];
	if (value === undefined || value === null) return whole;
	return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the name of a tool that a session is bound to. */
export function boundName(binding: SessionToolConfig | undefined): string | undefined {
	return typeof binding === "object" ? binding.name : binding;
}

/** Returns the text of a bound call, if the result is one. */
export function boundText(
	binding: SessionToolConfig,
	{ arguments: args }: ToolCall,
	result: StoredResult,
): string {
	const property = typeof binding === "object" ? binding.messageProperty : undefined;
	if (property === undefined) return resultText(result);
	const value = args[property];
	return typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
}

function outcomeOf(
	binding: SessionToolConfig | undefined,
	call: ToolCall,
	result: StoredResult,
	status: SessionOutcome["status"],
): SessionOutcome | undefined {
	if (binding === undefined || boundName(binding) !== call.toolName) return undefined;
	const property = typeof binding === "object" ? binding.attachmentsProperty : undefined;
	const given = property === undefined ? result.attachments : call.arguments[property];
	return { status, text: boundText(binding, call, result), attachments: attachmentsOf(given) };
}

/** Returns the files that a call names: as references, or as paths. */
export function attachmentsOf(given: unknown): AttachmentRef[] {
	const list = given === undefined ? [] : Array.isArray(given) ? given : [given];
	return list.flatMap((each): AttachmentRef[] => {
		const path = typeof each === "string" ? each : (each as Partial<AttachmentRef> | null)?.path;
		if (typeof path !== "string" || path === "") return [];
		const name = path.split("/").at(-1) ?? path;
		const about = typeof each === "object" ? (each as Partial<AttachmentRef>) : {};
		return [{ id: path, name, mimeType: "application/octet-stream", size: 0, ...about, type: "file", path }];
	});
}

function parsed(text: string): unknown {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null ? value : undefined;
	} catch {
		return undefined;
	}
}
