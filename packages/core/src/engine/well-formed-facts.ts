// Makes the text of facts well-formed when they are committed. For the facts that every run commits, only the members
// that hold outside text are checked; facts of other kinds are checked completely.
import { type AnyMessage, type Message, type TokenUsage, type ToolCall, wellFormed } from "@holdfast/upp";
import type { Fact } from "../facts/index.ts";

/** The members that are checked, by kind of fact. */
interface Outside {
	"run.started": "agentName" | "caller" | "parent" | "system";
	input: "inputId" | "message" | "spent";
	assistant: "message" | "usage" | "modelId" | "data" | "prepared";
	"tool.started": "callId" | "name" | "input";
	"tool.settled": "callId" | "result" | "details" | "stack" | "metadata" | "spent" | "loads";
	"run.ended": "error" | "partial";
}

/** The remaining members: numbers, and words of the runtime. */
interface Ours {
	"run.started": "runKind" | "agentId" | "fingerprint";
	input: "placement" | "shape" | "wrapped";
	assistant:
		| "step"
		| "continues"
		| "tag"
		| "stopReason"
		| "duration"
		| "cost"
		| "resultsId"
		| "cacheBreak"
		| "view"
		| "estimate"
		| "cuts"
		| "strategy"
		| "fingerprint";
	"tool.started": "step" | "attempt" | "idempotencyKey";
	"tool.settled": "step" | "outcome" | "denied" | "duration" | "approved" | "streamed";
	"run.ended": "outcome";
}

type Unlisted = {
	[Kind in keyof Outside]: Exclude<
		keyof Extract<Fact, { kind: Kind }>,
		"kind" | "marks" | Outside[Kind] | Ours[Kind]
	>;
}[keyof Outside];

/**
 * Fails to compile if a fact has a member in neither list: `isWellFormed` must check it, or it must be listed as ours.
 */
true satisfies [Unlisted] extends [never] ? true : Unlisted;

/** Returns the facts with `U+FFFD` in place of each lone surrogate. Returns the same list if no text has any. */
export function wellFormedFacts(facts: readonly Fact[]): readonly Fact[] {
	for (const fact of facts) if (!isWellFormed(fact)) return wellFormed(facts);
	return facts;
}

function isWellFormed(fact: Fact): boolean {
	switch (fact.kind) {
		case "run.started":
			return isSame(fact.agentName) && isSame(fact.caller) && isSame(fact.parent) && isSame(fact.system);
		case "input":
			return isSame(fact.inputId) && isMessage(fact.message) && isSame(fact.spent);
		case "assistant":
			return (
				isMessage(fact.message) &&
				hasSameMembers(fact.usage) &&
				isSame(fact.modelId) &&
				isSame(fact.data) &&
				isSame(fact.prepared)
			);
		case "tool.started":
			return isSame(fact.callId) && isSame(fact.name) && isSame(fact.input);
		case "tool.settled":
			return (
				isSame(fact.callId) &&
				isSame(fact.result) &&
				isSame(fact.details) &&
				isSame(fact.stack) &&
				isSame(fact.metadata) &&
				isSame(fact.spent) &&
				isSame(fact.loads)
			);
		case "run.ended":
			return isSame(fact.error) && (fact.partial === undefined || isMessage(fact.partial));
		default:
			return isSame(fact);
	}
}

function isMessage(given: Message): boolean {
	const message = given as AnyMessage;
	if (!isSame(message.id) || !isSame(message.metadata)) return false;
	switch (message.type) {
		case "user":
			return isSame(message.content);
		case "assistant":
			return isSame(message.content) && (message.toolCalls === undefined || areCalls(message.toolCalls));
		case "tool_result":
			return isSame(message.results);
	}
}

/** Member names that nearly every answer has. They are ours and need no check. */
const ourNames: ReadonlySet<string> = new Set([
	"toolCallId",
	"toolName",
	"arguments",
	"inputTokens",
	"outputTokens",
	"totalTokens",
] satisfies (keyof ToolCall | keyof TokenUsage)[]);

function areCalls(calls: readonly ToolCall[]): boolean {
	for (const call of calls) if (!hasSameMembers(call)) return false;
	return true;
}

function hasSameMembers(data: object): boolean {
	for (const name in data) {
		if (!ourNames.has(name) && !name.isWellFormed()) return false;
		if (!isSame((data as Readonly<Record<string, unknown>>)[name])) return false;
	}
	return true;
}

function isSame(value: unknown): boolean {
	if (typeof value === "string") return value.isWellFormed();
	return typeof value !== "object" || wellFormed(value) === value;
}
