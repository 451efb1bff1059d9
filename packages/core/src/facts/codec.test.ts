import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AssistantMessage, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AgentState } from "../state/agent-state.ts";
import { decodeFact, encodeFact, type FactFormat, factFormats } from "./codec.ts";
import type { Fact, Folded } from "./fact.ts";

const word = fc.string({ unit: "binary", maxLength: 20 });
const count = fc.nat({ max: 1_000_000 });
const time = fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true });
const optional = <T>(name: string, value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
	fc.oneof(
		fc.constant({}),
		value.map((inner) => ({ [name]: inner })),
	);
const value: fc.Arbitrary<unknown> = fc.oneof(
	fc.jsonValue(),
	fc.uint8Array({ maxLength: 20 }),
	fc.date(),
	fc.record({ bytes: fc.uint8Array({ maxLength: 8 }), $holdfast: fc.jsonValue() }),
	fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -0),
);
const identity = fc.record({ id: word, timestamp: time });
const user = fc.tuple(word, identity).map(([text, options]) => new UserMessage(text, options));
const assistant = fc
	.tuple(
		word,
		fc.array(fc.record({ toolCallId: word, toolName: word, arguments: fc.dictionary(word, value) })),
		identity,
	)
	.map(([text, calls, options]) => new AssistantMessage(text, calls, options));
const results = fc
	.tuple(fc.array(fc.record({ toolCallId: word, result: value })), identity)
	.map(([list, options]) => new ToolResultMessage(list, options));
const message = fc.oneof(user, assistant, results);

const facts: Record<Fact["kind"], fc.Arbitrary<object>> = {
	"run.started": fc.record({ runKind: fc.constant("user-turn"), agentId: word, fingerprint: word }),
	"run.resumed": fc.record({ attempt: count, fingerprint: word, reason: fc.constant("crash") }),
	"run.parked": fc.record({ reason: fc.constant("crash"), crashes: count }),
	input: fc.record({ inputId: word, placement: fc.constant("turn"), shape: fc.constant("text"), message }),
	assistant: fc
		.tuple(
			fc.record({
				step: count,
				tag: word,
				message: assistant,
				usage: fc.record({ inputTokens: count, outputTokens: count, totalTokens: count }),
				stopReason: word,
				modelId: word,
				duration: count,
			}),
			optional("data", value),
			optional("resultsId", word),
		)
		.map((parts) => Object.assign({}, ...parts)),
	"tool.started": fc
		.tuple(
			fc.record({ step: count, callId: word, name: word, attempt: count, idempotencyKey: word }),
			optional("input", value),
		)
		.map((parts) => Object.assign({}, ...parts)),
	"tool.settled": fc
		.tuple(
			fc.record({ step: count, callId: word, outcome: fc.constant("done"), result: value, duration: count }),
			optional("details", value),
			optional("approved", fc.boolean()),
		)
		.map((parts) => Object.assign({}, ...parts)),
	decision: fc.record({ step: count, topic: word, answer: value }),
	note: fc.record({ step: count, topic: word, value }),
	"tools.requested": fc
		.tuple(
			fc.record({
				step: count,
				tag: word,
				calls: fc.array(
					fc.record({ toolCallId: word, toolName: word, arguments: fc.dictionary(word, value) }),
				),
			}),
			optional("continues", fc.constant(true)),
		)
		.map((parts) => Object.assign({}, ...parts)),
	waiting: fc
		.tuple(
			fc.record({ step: count, calls: fc.array(word) }),
			optional("wait", fc.record({ tag: word, until: count })),
		)
		.map((parts) => Object.assign({}, ...parts)),
	"tools.pending": fc.record({ step: count, calls: fc.array(word), children: fc.array(word) }),
	"wait.ended": fc.record({ step: count, tag: word, until: count }),
	"message.added": fc.record({ message }),
	"message.updated": fc.record({ messageId: word, message }),
	"message.deleted": fc.record({ messageId: word }),
	"history.cut": fc.record({ messageId: word }),
	"run.ended": fc
		.tuple(
			fc.record({ outcome: fc.constant("error") }),
			optional("error", fc.record({ code: word, message: word, retryable: fc.boolean() })),
			optional("partial", assistant),
		)
		.map((parts) => Object.assign({}, ...parts)),
	folded: fc.record({
		state: fc
			.array(message)
			.map((messages) => AgentState.initial().withMessages(messages).withReasoning("so").toJSON()),
		tools: fc.array(fc.option(fc.array(word))),
	}),
};

const marks = optional("marks", fc.array(fc.constantFrom("turn_start", "step_start", "step_end")));

test.each(Object.entries(facts))("a fact %s is read back from its text unchanged", (kind, arbitrary) => {
	fc.assert(
		fc.property(arbitrary, marks, (members, marked) => {
			const fact = { kind, ...members, ...marked } as Fact;
			const encoded = encodeFact(fact);
			expect(encoded.kind).toBe(kind);
			expect(JSON.parse(encoded.body)).not.toHaveProperty("kind");
			expect(decodeFact(encoded.kind, encoded.version, encoded.body)).toEqual(fact);
		}),
		{ numRuns: 200 },
	);
});

test("marks are one letter each, and letters of later releases are omitted", () => {
	const { kind, version, body } = encodeFact({
		kind: "run.ended",
		outcome: "completed",
		marks: ["turn_start", "step_start", "step_end"],
	});
	expect(JSON.parse(body)).toEqual({ outcome: "completed", marks: "tse" });
	expect(decodeFact(kind, version, body.replace("tse", "txe")).marks).toEqual(["turn_start", "step_end"]);
});

/** The lines of a golden journal, and what is read from them. */
function readGolden(name: string): { readonly lines: readonly string[]; readonly golden: readonly Fact[] } {
	const lines = readFileSync(new URL(`./${name}.fixture.txt`, import.meta.url), "utf8")
		.trim()
		.split("\n");
	const golden = lines.map((line) => {
		const [kind = "", version, ...body] = line.split(" ");
		return decodeFact(kind, Number(version), body.join(" "));
	});
	return { lines, golden };
}

/** This release writes the same text as the golden journal contains. */
function expectSameText({ lines, golden }: ReturnType<typeof readGolden>): void {
	for (const [index, line] of lines.entries()) {
		const fact = golden[index] as Fact;
		if (factFormats[fact.kind].version !== Number(line.split(" ")[1])) continue;
		const { kind, version, body } = encodeFact(fact);
		expect(`${kind} ${version} ${JSON.stringify(JSON.parse(body))}`).toBe(line);
	}
}

test("the golden journals contain every kind of fact", () => {
	const kinds = [1, 2, 3, 4, 6]
		.map((version) => `golden-journal-${version}`)
		.flatMap((name) => readGolden(name).golden.map(({ kind }) => kind));
	expect(new Set(kinds)).toEqual(new Set(Object.keys(factFormats)));
});

test("the documented table of kinds lists every kind of fact, and no others", () => {
	const design = readFileSync(join(import.meta.dirname, "../../../../docs/design.md"), "utf8");
	const table = design.slice(design.indexOf("| kind | content |")).split("\n\n", 1)[0] ?? "";
	const kinds = [...table.matchAll(/^\| (?<kinds>`[^|]+`) \|/gm)].flatMap(({ groups }) =>
		[...(groups?.kinds ?? "").matchAll(/`(?<kind>[^`]+)`/g)].map((found) => found.groups?.kind),
	);
	expect(kinds.sort()).toEqual(Object.keys(factFormats).sort());
});

test("the golden journal of strategies that act without a model is read, and written back unchanged", () => {
	const journal = readGolden("golden-journal-2");
	expectSameText(journal);
	const [requested, waiting, ended, outside] = journal.golden;
	const call = {
		toolCallId: "c1",
		toolName: "fetch",
		arguments: { since: new Date("2026-01-02T03:04:05.678Z") },
	};
	expect(requested).toEqual({ kind: "tools.requested", step: 1, tag: "act", calls: [call], continues: true });
	expect(waiting).toEqual({
		kind: "waiting",
		step: 1,
		calls: [],
		wait: { tag: "backoff", until: 1_767_323_045_678 },
	});
	expect(ended).toEqual({ kind: "wait.ended", step: 1, tag: "backoff", until: 1_767_323_045_678 });
	expect(outside).toEqual({
		kind: "waiting",
		step: 2,
		calls: [{ callId: "c2", awaits: "result", since: 5 }],
	});
});

test("the golden journal of a message that was added from outside is read, and written back unchanged", () => {
	const journal = readGolden("golden-journal-4");
	expectSameText(journal);
	const message = new UserMessage("By the way.", {
		id: "m1",
		timestamp: new Date("2026-01-02T03:04:05.678Z"),
	});
	expect(journal.golden).toEqual([{ kind: "message.added", message }]);
});

test("the golden journal of calls that wait while others run is read, and written back unchanged", () => {
	const journal = readGolden("golden-journal-6");
	expectSameText(journal);
	const call = { callId: "c1", awaits: "approval", since: 5, input: { euros: 2 }, basis: "b", mayEdit: true };
	const path = [{ agent: "helper", toolCallId: "c2" }];
	const nested = { callId: "n1", awaits: "result", since: 6, deadline: 9, id: "c2/n1", path };
	expect(journal.golden).toEqual([
		{
			kind: "tools.pending",
			step: 1,
			calls: [call],
			children: [
				{
					callId: "c2",
					agent: "helper",
					storeKey: "s/helper",
					seq: 4,
					calls: [{ ...nested, toolName: "locate", arguments: { city: "Rome" } }],
				},
			],
		},
	]);
});

test("the golden journal of version 1 is still read, fact by fact", () => {
	const journal = readGolden("golden-journal-1");
	const { golden } = journal;
	const [input] = golden.filter((fact) => fact.kind === "input");
	expect(input?.message).toEqual(
		new UserMessage("Which files changed?", { id: "m1", timestamp: new Date("2026-01-02T03:04:05.678Z") }),
	);
	const [settled] = golden.filter((fact) => fact.kind === "tool.settled");
	expect(settled?.result).toEqual({
		bytes: new Uint8Array([1, 2, 3]),
		at: new Date("2026-01-02T03:04:05.678Z"),
	});
	const [folded] = golden.filter((fact) => fact.kind === "folded");
	const state = AgentState.fromJSON((folded as Folded).state);
	expect(state.messages.map(({ text }) => text)).toEqual(["Which files changed?"]);
	expect([state.step, state.metadata, state.reasoning]).toEqual([
		2,
		{ a: [1, null, "x"] },
		["I should look."],
	]);
	expectSameText(journal);
});

test("an older version is upgraded step by step before it is read", () => {
	const formats: Record<string, FactFormat> = {
		note: {
			version: 3,
			messages: [],
			values: ["value"],
			upcasters: [({ text, ...rest }) => ({ ...rest, value: text }), (body) => ({ ...body, step: 1 })],
		},
	};
	expect(decodeFact("note", 1, `{"topic":"a","text":"b"}`, formats)).toEqual({
		kind: "note",
		topic: "a",
		value: "b",
		step: 1,
	});
	expect(decodeFact("note", 2, `{"topic":"a","value":"b"}`, formats)).toEqual({
		kind: "note",
		topic: "a",
		value: "b",
		step: 1,
	});
	expect(decodeFact("note", 3, `{"topic":"a","value":"b"}`, formats)).toEqual({
		kind: "note",
		topic: "a",
		value: "b",
	});
});

test("a newer version and an unknown kind are rejected by name", () => {
	expect(() => decodeFact("note", 2, "{}")).toThrow(expect.objectContaining({ code: "journal_newer" }));
	expect(() => decodeFact("toString", 1, "{}")).toThrow(expect.objectContaining({ code: "journal_newer" }));
});

test("a damaged body is reported as damaged", () => {
	expect(() => decodeFact("note", 1, `{"topic`)).toThrow(
		expect.objectContaining({ code: "journal_corrupt" }),
	);
	expect(() => decodeFact("input", 1, `{"message":{"type":"user"}}`)).toThrow(
		expect.objectContaining({ code: "journal_corrupt" }),
	);
});
