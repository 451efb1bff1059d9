// The list of a thread's messages: whatever happens to a thread, it is the same folded at once or entry by entry, and what a
// provider gets of it has calls and results in pairs.
import { AssistantMessage, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import type { Entry, Fact } from "holdfast/host";
import { expect, test } from "vitest";
import type { ProviderMessage } from "../types/index.ts";
import { providerHistory } from "./history.ts";
import { type MessageData, withData } from "./message-data.ts";
import { ThreadView } from "./thread-view.ts";

type Step =
	| { readonly kind: "says"; readonly silent: boolean; readonly at: number }
	| { readonly kind: "answers"; readonly calls: number; readonly settled: number; readonly side: "a" | "b" }
	| { readonly kind: "adds"; readonly role: "assistant" | "tool" | "user" }
	| { readonly kind: "deletes"; readonly which: number }
	| { readonly kind: "updates"; readonly which: number }
	| { readonly kind: "ends" };

const steps = fc.array(
	fc.oneof(
		fc.record({
			kind: fc.constant("says" as const),
			silent: fc.boolean(),
			at: fc.integer({ min: 0, max: 5 }),
		}),
		fc.record({
			kind: fc.constant("answers" as const),
			calls: fc.integer({ min: 0, max: 3 }),
			settled: fc.integer({ min: 0, max: 3 }),
			side: fc.constantFrom("a" as const, "b" as const),
		}),
		fc.record({ kind: fc.constant("adds" as const), role: fc.constantFrom("assistant", "tool", "user") }),
		fc.record({ kind: fc.constant("deletes" as const), which: fc.nat(20) }),
		fc.record({ kind: fc.constant("updates" as const), which: fc.nat(20) }),
		fc.record({ kind: fc.constant("ends" as const) }),
	) as fc.Arbitrary<Step>,
	{ maxLength: 30 },
);

/** The entries of a thread to which these things happen. */
function entriesOf(happened: readonly Step[]): Entry[] {
	const entries: Entry[] = [];
	const ids: string[] = [];
	const add = (fact: Fact): void => {
		entries.push({ seq: entries.length + 1, at: 1_000, runId: "r", fact });
	};
	const metadata = (data: MessageData) => ({ metadata: withData(data) });
	for (const [at, step] of happened.entries()) {
		const id = `m${at}`;
		const timestamp = new Date(1_000);
		if (step.kind === "says") {
			const options = {
				id,
				timestamp: new Date(step.at),
				...(step.silent ? metadata({ silent: true }) : {}),
			};
			const message = new UserMessage(`says ${at}`, options);
			add({ kind: "input", inputId: id, placement: "turn", shape: "text", message });
			ids.push(id);
		} else if (step.kind === "answers") {
			const calls = Array.from({ length: step.calls }, (_, call) => ({
				// Providers repeat their ids.
				toolCallId: `c${call}`,
				toolName: "look",
				arguments: {},
			}));
			const options = { id, timestamp, ...metadata({ side: step.side }) };
			const message = new AssistantMessage(at % 2 === 0 ? "" : `answers ${at}`, calls, options);
			const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
			const about = { step: 1, tag: "a", usage, stopReason: "stop", modelId: "m", duration: 0 };
			add({ kind: "assistant", message, ...about, ...(step.calls > 0 ? { resultsId: `${id}r` } : {}) });
			ids.push(id, `${id}r`);
			for (const { toolCallId: callId } of calls.slice(0, step.settled))
				add({
					kind: "tool.settled",
					step: 1,
					callId,
					outcome: "done",
					result: { status: "success", result: "r" },
					duration: 0,
				});
		} else if (step.kind === "adds") {
			const message =
				step.role === "user"
					? new UserMessage(`added ${at}`, { id, timestamp })
					: step.role === "assistant"
						? new AssistantMessage(`added ${at}`, undefined, { id, timestamp })
						: new ToolResultMessage([{ toolCallId: "c0", result: "added" }], { id, timestamp });
			add({ kind: "message.added", message });
			ids.push(id);
		} else if (step.kind === "deletes")
			add({ kind: "message.deleted", messageId: ids[step.which] ?? "nobody" });
		else if (step.kind === "updates") {
			const messageId = ids[step.which] ?? "nobody";
			const message = messageId.endsWith("r")
				? new ToolResultMessage([{ toolCallId: "c0", result: "new" }], { id: messageId, timestamp })
				: new UserMessage("new", { id: messageId, timestamp });
			add({ kind: "message.updated", messageId, message });
		} else add({ kind: "run.ended", outcome: "completed" });
	}
	return entries;
}

function folded(entries: readonly Entry[]): ThreadView {
	const view = new ThreadView();
	for (const entry of entries) expect(view.apply(entry)).toBe(true);
	return view;
}

test("it is the same from wherever it is continued, with its own ids and increasing times [SA-077] [SA-083]", () => {
	fc.assert(
		fc.property(steps, fc.nat(60), (happened, cut) => {
			const entries = entriesOf(happened);
			const whole = folded(entries);
			const begun = folded(entries.slice(0, cut));
			const copy = begun.copy();
			for (const entry of entries) copy.apply(entry); // those that are in it change nothing
			expect(copy.rows.map(({ message }) => message)).toEqual(whole.rows.map(({ message }) => message));
			expect(copy.seq).toBe(whole.seq);
			expect(begun.rows.length).toBe(folded(entries.slice(0, cut)).rows.length);
			const { rows } = whole;
			expect(new Set(rows.map(({ message }) => message.id)).size).toBe(rows.length);
			for (const [at, { message }] of rows.entries()) {
				expect(whole.get(message.id)?.message).toBe(message);
				if (at > 0) expect(message.created_at).toBeGreaterThan(rows[at - 1]?.message.created_at ?? 0);
			}
			expect(whole.shown).toEqual(rows.filter(({ message }) => message.silent !== true));
		}),
		{ numRuns: 300 },
	);
});

test("an entry that does not follow the last one is rejected", () => {
	const [first, second, third] = entriesOf(Array(3).fill({ kind: "says", silent: false, at: 0 })) as [
		Entry,
		Entry,
		Entry,
	];
	const view = folded([first]);
	expect(view.apply(third)).toBe(false);
	expect(view.apply(second)).toBe(true);
	expect(view.rows).toHaveLength(2);
});

test("in any history, no side is shown a result without its call, or a call without its result [SA-085]", () => {
	fc.assert(
		fc.property(
			steps,
			fc.constantFrom("a" as const, "b" as const),
			fc.boolean(),
			fc.nat(60),
			(happened, side, isDual, turnSeq) => {
				const { rows } = folded(entriesOf(happened));
				const history = providerHistory(rows, {
					side,
					isDual,
					includePastTools: turnSeq % 2 === 0,
					turnSeq,
					response: () => undefined,
					image: () => undefined,
				});
				let open: string[] = [];
				for (const message of history as readonly ProviderMessage[]) {
					if (message.role === "tool") {
						expect(open).toContain(message.toolCallId);
						open = open.filter((id) => id !== message.toolCallId);
						continue;
					}
					expect(open).toEqual([]);
					if (message.role === "assistant") open = (message.toolCalls ?? []).map(({ id }) => id);
				}
				expect(open).toEqual([]);
			},
		),
		{ numRuns: 500 },
	);
});
