// Checks that readers of the journal can accept an interceptor's replacement of a fact: it must keep the kind, ids,
// positions and run outcome; only content, values and notes may change.
import {
	type AssistantMessage,
	isAssistantMessage,
	isMessage,
	type Message,
	messageOf,
	type ToolCall,
} from "@holdfast/upp";
import {
	encodeFact,
	type Fact,
	type FactKind,
	type Noted,
	outputTopic,
	readVerdict,
	type ToolCallOutcome,
} from "../facts/index.ts";
import { AgentState, type SubagentExecutionTrace } from "../state/index.ts";
import { plainJson } from "../tools/index.ts";
import type { AuditNote } from "./interceptor.ts";

/** The members that may be replaced, by kind. */
const content: Readonly<Record<FactKind, readonly string[]>> = {
	"run.started": ["parent", "system"],
	"run.resumed": ["partial", "system"],
	"run.parked": ["error"],
	input: ["message"],
	assistant: ["message", "data"],
	"tools.requested": ["calls"],
	"tool.started": ["input"],
	"tool.settled": ["outcome", "result", "details", "stack", "metadata"],
	decision: ["answer"],
	note: ["value"],
	"tools.pending": ["calls", "children"],
	waiting: ["calls", "children"],
	"wait.ended": [],
	"message.added": ["message"],
	"message.updated": ["message"],
	"message.deleted": [],
	"history.cut": [],
	"run.ended": ["error", "partial"],
	folded: [],
};

const outcomes: ReadonlySet<string> = new Set(
	Object.keys({
		done: true,
		error: true,
		cancelled: true,
		unknown: true,
		skipped: true,
		expired: true,
	} satisfies Record<ToolCallOutcome, true>),
);

/** Topics that the engine itself acts on. */
const ownTopics: ReadonlySet<string> = new Set(["suspended", "model-retry", "model-failed"]);

/** Returns the fault of a replaced fact; undefined if it is valid. */
export function faultOf(given: Fact, admitted: unknown): string | undefined {
	if (typeof admitted !== "object" || admitted === null) return "the `fact` that it returned is not a fact";
	const fact = admitted as Fact;
	if (fact.kind !== given.kind)
		return `it replaced a fact of kind "${given.kind}" with one of kind "${String(fact.kind)}"`;
	const replaceable = content[given.kind];
	const members = new Set([...Object.keys(given), ...Object.keys(fact)]);
	for (const name of members) {
		const [before, after] = [memberOf(given, name), memberOf(fact, name)];
		if (before === after) continue;
		if (!replaceable.includes(name) && JSON.stringify(before) !== JSON.stringify(after))
			return `it changed \`${name}\` of a fact of kind "${given.kind}", which must stay`;
	}
	return faultOfContent(given, fact) ?? faultOfWriting(fact);
}

/** Returns the fault of a note to record with a fact; undefined if it is valid. */
export function faultOfNote(note: unknown): string | undefined {
	const { topic, value } = (note ?? {}) as Partial<AuditNote>;
	if (typeof topic !== "string" || topic === "") return "one of its notes has no topic";
	if (ownTopics.has(topic)) return `the topic "${topic}" of a note is reserved for the engine`;
	return faultOfWriting({ kind: "note", step: 0, topic, value: value ?? null });
}

function memberOf(fact: Fact, name: string): unknown {
	return (fact as unknown as Record<string, unknown>)[name];
}

function faultOfContent(given: Fact, fact: Fact): string | undefined {
	switch (fact.kind) {
		case "input":
		case "message.added":
		case "message.updated":
			return faultOfMessage((given as typeof fact).message, fact.message);
		case "assistant":
			return faultOfAnswer((given as typeof fact).message, fact.message);
		case "tools.requested":
			return faultOfCalls((given as typeof fact).calls, fact.calls);
		case "run.resumed":
		case "run.ended":
			return fact.partial === undefined || isAssistantMessage(fact.partial)
				? faultOfError(fact)
				: "`partial` is not an assistant message";
		case "run.started":
			return faultOfParent((given as typeof fact).parent, fact.parent);
		case "tools.pending":
		case "waiting":
			return faultOfPending(given as Waiting, fact);
		case "tool.settled":
			return outcomes.has(fact.outcome)
				? undefined
				: `the outcome ${JSON.stringify(fact.outcome)} is unknown`;
		case "decision":
			return faultOfDecision(given as typeof fact, fact);
		case "note":
			return faultOfValue(given as typeof fact, fact);
		case "run.parked":
			return faultOfError(fact);
		case "tool.started":
		case "wait.ended":
		case "message.deleted":
		case "history.cut":
		case "folded":
			return undefined;
		default:
			fact satisfies never;
			return undefined;
	}
}

function faultOfMessage(given: Message, message: unknown): string | undefined {
	if (!isMessage(message) || message.type !== given.type)
		return "`message` must be a message of the same type";
	return message.id === given.id ? undefined : "it changed the id of a message, which must stay";
}

/** The ids of calls must not change: tools, outside answers and results refer to them. */
function faultOfAnswer(given: AssistantMessage, message: AssistantMessage): string | undefined {
	return faultOfMessage(given, message) ?? faultOfCalls(given.toolCalls, message.toolCalls);
}

function faultOfCalls(given: readonly ToolCall[] = [], calls: readonly ToolCall[] = []): string | undefined {
	const idsOf = (each: readonly ToolCall[]): string =>
		JSON.stringify(each.map(({ toolCallId, toolName }) => [toolCallId, toolName]));
	if (idsOf(given) !== idsOf(calls)) return "it changed the ids or names of tool calls, which must stay";
	const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
	return calls.every((call) => isObject(call.arguments))
		? undefined
		: "the arguments of a call are not an object";
}

type Waiting = Extract<Fact, { kind: "waiting" | "tools.pending" }>;

/** Shown data may be masked, but the waiting calls and the reasons they wait must not change. */
function faultOfPending(given: Waiting, fact: Waiting): string | undefined {
	const kept = ({ calls, children }: Waiting): string =>
		JSON.stringify([calls, children], (name, value) =>
			name === "input" || name === "given" || name === "arguments" ? undefined : value,
		);
	return Array.isArray(fact.calls) && kept(given) === kept(fact)
		? undefined
		: "it changed which calls wait, which must stay";
}

function faultOfError(fact: Fact): string | undefined {
	if ((fact.kind !== "run.ended" && fact.kind !== "run.parked") || fact.error === undefined) return undefined;
	const { code, message, retryable } = fact.error ?? {};
	return typeof code === "string" && typeof message === "string" && typeof retryable === "boolean"
		? undefined
		: "`error` must be {code, message, retryable}";
}

type Parent = Extract<Fact, { kind: "run.started" }>["parent"];

function faultOfParent(given: Parent, parent: Parent): string | undefined {
	const idsOf = ({ description: _, ...ids }: NonNullable<Parent>): string => JSON.stringify(ids);
	const isSame =
		given === undefined || parent === undefined ? given === parent : idsOf(given) === idsOf(parent);
	return isSame ? undefined : "it changed the caller of the run, which must stay";
}

/** The approver must not be changed. */
function faultOfDecision(
	{ topic, answer: given }: Extract<Fact, { kind: "decision" }>,
	{ answer }: Extract<Fact, { kind: "decision" }>,
): string | undefined {
	if (topic === outputTopic && readVerdict(answer)?.ok !== readVerdict(given)?.ok)
		return "it changed whether an output is right, which must stay";
	if (topic !== "approval") return undefined;
	const { callId, approved } = given as { callId: string; approved: boolean };
	const now = (answer ?? {}) as { callId?: unknown; approved?: unknown };
	return now.callId === callId && now.approved === approved
		? undefined
		: "it changed an approved value, which must stay unchanged";
}

/** The parts of a note that the fold reads must remain readable. */
function faultOfValue({ value: given }: Noted, { topic, value }: Noted): string | undefined {
	try {
		if (topic === "plan") AgentState.initial().withPlan(value as Parameters<AgentState["withPlan"]>[0]);
		if (topic === "subagent-trace") AgentState.initial().withSubagentTrace(value as SubagentExecutionTrace);
	} catch (error) {
		return `its replacement of the note "${topic}" cannot be read: ${messageOf(error)}`;
	}
	if (topic === "plan-step" && JSON.stringify(value) !== JSON.stringify(given))
		return "it changed the state of a plan's step, which must stay";
	if (topic === "metadata" && (value as { key?: unknown })?.key !== (given as { key?: unknown }).key)
		return "it changed the key of metadata, which must stay";
	return undefined;
}

/** Checked here because the store would refuse it later, when the interceptor at fault is unknown. */
function faultOfWriting(fact: Fact): string | undefined {
	try {
		if (fact.kind === "tool.settled") plainJson(fact.result);
		encodeFact(fact);
		return undefined;
	} catch (error) {
		return `the journal cannot hold what it returned: ${messageOf(error)}`;
	}
}
