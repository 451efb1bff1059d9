// Makes the text of facts well-formed where they are committed. Of the facts that every run commits, only the members that
// hold text from outside are checked; facts of other kinds are checked whole.
import { type AnyMessage, wellFormed } from "@holdfast/upp";
import type { Fact } from "../facts/index.ts";

/** Kinds that every run commits. */
type Frequent = "run.started" | "input" | "assistant" | "tool.started" | "tool.settled" | "run.ended";

/** `ours`: numbers, and text that the runtime makes. */
type Source = "outside" | "ours";

type Members<Kind extends Frequent> = Exclude<keyof Extract<Fact, { kind: Kind }>, "kind" | "marks">;

const sources: { readonly [Kind in Frequent]: Readonly<Record<Members<Kind>, Source>> } = {
	"run.started": {
		runKind: "ours",
		agentId: "ours",
		agentName: "outside",
		fingerprint: "ours",
		caller: "outside",
		parent: "outside",
	},
	input: { inputId: "outside", placement: "ours", shape: "ours", wrapped: "ours", message: "outside" },
	assistant: {
		step: "ours",
		continues: "ours",
		tag: "outside",
		message: "outside",
		usage: "outside",
		stopReason: "outside",
		modelId: "outside",
		duration: "ours",
		cost: "ours",
		data: "outside",
		resultsId: "ours",
	},
	"tool.started": {
		step: "ours",
		callId: "outside",
		name: "outside",
		input: "outside",
		attempt: "ours",
		idempotencyKey: "ours",
	},
	"tool.settled": {
		step: "ours",
		callId: "outside",
		outcome: "ours",
		result: "outside",
		details: "outside",
		stack: "outside",
		denied: "ours",
		metadata: "outside",
		duration: "ours",
		approved: "ours",
		spent: "outside",
		streamed: "ours",
	},
	"run.ended": { outcome: "ours", error: "outside", partial: "outside" },
};

/** The members to check, by kind. */
const checked: ReadonlyMap<string, readonly string[]> = new Map(
	Object.entries(sources).map(([kind, members]) => [
		kind,
		Object.entries(members).flatMap(([name, source]) => (source === "ours" ? [] : [name])),
	]),
);

/** The facts with `U+FFFD` in place of each lone surrogate; the same list where there is none. */
export function wellFormedFacts(facts: readonly Fact[]): readonly Fact[] {
	for (const fact of facts) if (!isWellFormed(fact)) return wellFormed(facts);
	return facts;
}

function isWellFormed(fact: Fact): boolean {
	const names = checked.get(fact.kind);
	if (names === undefined) return isSame(fact);
	for (const name of names) {
		const value = (fact as unknown as Readonly<Record<string, unknown>>)[name];
		if (value === undefined) continue;
		if (name === "message" || name === "partial" ? !isMessage(value as AnyMessage) : !isSame(value))
			return false;
	}
	return true;
}

function isMessage(message: AnyMessage): boolean {
	if (!isSame(message.id) || !isSame(message.metadata)) return false;
	switch (message.type) {
		case "user":
			return isSame(message.content);
		case "assistant":
			return isSame(message.content) && isSame(message.toolCalls);
		case "tool_result":
			return isSame(message.results);
	}
}

function isSame(value: unknown): boolean {
	return typeof value === "string" ? value.isWellFormed() : wellFormed(value) === value;
}
