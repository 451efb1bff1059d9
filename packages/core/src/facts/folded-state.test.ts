import { AssistantMessage, type Message, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AgentState } from "../state/agent-state.ts";
import { decodeFact, encodeFact } from "./codec.ts";
import { evolve } from "./evolve.ts";
import type { Entry, Fact } from "./fact.ts";
import { foldedFact, withTools } from "./folded-state.ts";
import { type FoldOptions, initialSession, type SessionState } from "./session-state.ts";

/** What the agent's tools show of their results: one cuts text, one replaces it, one shows everything. */
const options: FoldOptions = {
	show(tool, result) {
		if (tool === "look" && typeof result === "string") return result.slice(0, 3);
		return tool === "count" ? { shown: true } : result;
	},
};
const text = fc.string({ maxLength: 8 });
const picture = { type: "image", source: { type: "base64", data: "AQI=" }, mimeType: "image/png" } as const;
const outcome = fc.constantFrom("done", "error", "cancelled", "unknown", "skipped");
const call = fc.record({
	tool: fc.constantFrom("look", "count", "keep"),
	result: fc.oneof(
		text,
		fc.jsonValue({ maxDepth: 1 }),
		fc.uint8Array({ maxLength: 3 }),
		fc.constant([picture]),
	),
	outcome,
	/** A leftover call means that its run was killed. */
	settles: fc.boolean(),
});
const step = fc.oneof(
	fc.record({ calls: fc.array(call, { maxLength: 3 }), says: text }),
	fc.record({ topic: fc.constantFrom("reasoning", "metadata", "plan", "other"), says: text }),
);
const run = fc.record({
	asks: text,
	shows: fc.boolean(),
	/** Whether the run fails with an error that a file may have caused. */
	isRefused: fc.boolean(),
	steps: fc.array(step, { maxLength: 4 }),
	outcome: fc.constantFrom("completed", "error", "aborted"),
	/** Which message is edited or deleted after the run, counted from the first. */
	edit: fc.option(fc.record({ at: fc.nat(12), deletes: fc.boolean() })),
});

/** The facts of some runs, as entries. */
function entriesOf(runs: readonly (typeof run extends fc.Arbitrary<infer Run> ? Run : never)[]): Entry[] {
	const entries: Entry[] = [];
	const usage = { inputTokens: 2, outputTokens: 1, totalTokens: 3 };
	for (const [index, { asks, shows, isRefused, steps, outcome: ends, edit }] of runs.entries()) {
		const timestamp = new Date(index * 1_000);
		const add = (fact: Fact): void => {
			entries.push({
				seq: entries.length + 1,
				at: index * 1_000 + entries.length,
				runId: `run-${index}`,
				fact,
			});
		};
		const question = new UserMessage([{ type: "text", text: asks }, ...(shows ? [picture] : [])], {
			id: `question-${index}`,
			timestamp,
		});
		add({ kind: "run.started", runKind: "user-turn", agentId: "a", fingerprint: "f" });
		add({ kind: "input", inputId: question.id, placement: "turn", shape: "text", message: question });
		let left = false;
		for (const [at, given] of steps.entries()) {
			if (left) break;
			const name = `${index}-${at}`;
			if ("topic" in given) {
				const plan = [{ id: "1", description: given.says, tool: "look", dependsOn: [], status: "pending" }];
				const values = { metadata: { key: given.says, value: index }, plan } as Record<string, unknown>;
				add({ kind: "note", step: at + 1, topic: given.topic, value: values[given.topic] ?? given.says });
				continue;
			}
			const calls = given.calls.map(({ tool }, which) => ({
				toolCallId: `call-${which}`, // ids that are used again in every step, as some providers do
				toolName: tool,
				arguments: {},
			}));
			const message = new AssistantMessage(given.says, calls, { id: `answer-${name}`, timestamp });
			const resultsId = `results-${name}`;
			const about = { step: at + 1, tag: "act", usage, stopReason: "stop", modelId: "m", duration: 1 };
			add({ kind: "assistant", ...about, message, resultsId });
			for (const [which, { result, settles, ...settled }] of given.calls.entries()) {
				left ||= !settles;
				const callId = `call-${which}`;
				const whole = { step: at + 1, callId, result, duration: 1 };
				if (settles) add({ kind: "tool.settled", ...whole, outcome: settled.outcome as "done" });
			}
		}
		const error = { code: "INVALID_REQUEST", message: "No pictures.", retryable: false };
		if (isRefused) add({ kind: "run.ended", outcome: "error", error });
		else add({ kind: "run.ended", outcome: left ? "killed" : (ends as "completed") });
		if (edit === null) continue;
		const messages = folded(entries).agent.messages;
		const edited = messages[edit.at % messages.length];
		if (edited === undefined) continue;
		if (edit.deletes) add({ kind: "message.deleted", messageId: edited.id });
		else add({ kind: "message.updated", messageId: edited.id, message: changed(edited) });
	}
	return entries;
}

function changed(message: Message): Message {
	const { id, timestamp } = message;
	if (message.type !== "tool_result") return new UserMessage("edited", { id, timestamp });
	const results = (message as ToolResultMessage).results.map((each) => ({
		...each,
		result: "edited result",
	}));
	return new ToolResultMessage(results, { id, timestamp });
}

function folded(
	entries: readonly Entry[],
	show: FoldOptions = options,
	from: SessionState = initialSession(AgentState.initial()),
): SessionState {
	return entries.reduce((state, entry) => evolve(state, entry, show), from);
}

/** Everything in a state except its unique id. */
function content({ seq, agent, context, run: under, sent }: SessionState): unknown {
	const { id: _, ...state } = agent.toJSON();
	const shown = context.toArray().map((message) => message.toJSON());
	return { seq, state, shown, sent, run: under && { ...under, executions: under.executions.toArray() } };
}

const isOver = ({ fact }: Entry): boolean => fact.kind === "run.ended";

test("folding the settled entries and reading on is the same as reading everything", () => {
	let cuts = 0;
	const given = fc.array(run, { minLength: 1, maxLength: 4 });
	const property = fc.property(given, (runs) => {
		const entries = entriesOf(runs);
		for (const last of entries.filter(isOver)) {
			const prefix = entries.slice(0, last.seq);
			const rest = entries.slice(last.seq);
			const { kind, version, body } = encodeFact(foldedFact(folded(prefix, withTools)));
			const entry = { ...last, fact: decodeFact(kind, version, body) };
			const whole = content(folded(entries));
			const read = content(folded([entry, ...rest]));
			// An ended run is not kept; a later one is known as it would be without the fold.
			const isLast = !rest.some(({ fact }) => fact.kind === "run.started");
			expect(read).toEqual(isLast ? { ...(whole as object), run: undefined } : whole);
			// A folded session can be folded again with later entries.
			const again = foldedFact(folded([entry, ...rest], withTools));
			const direct = foldedFact(folded(entries, withTools));
			expect({ ...again, state: { ...again.state, id: "" } }).toEqual({
				...direct,
				state: { ...direct.state, id: "" },
			});
			cuts++;
		}
	});
	fc.assert(property, { numRuns: 500 });
	expect(cuts).toBeGreaterThan(500);
});

test("a damaged state is not accepted", () => {
	const fact = { ...foldedFact(initialSession(AgentState.initial())), state: { version: "1.0.0" } } as never;
	expect(() => folded([{ seq: 3, at: 1, runId: "r", fact }])).toThrow(
		expect.objectContaining({ code: "journal_corrupt" }),
	);
});
