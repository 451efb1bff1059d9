// What policy remembers of the previous request never changes what it shows: a stage that has seen all requests of a session
// shows the same as one that sees only the last. Histories grow, are edited, cut and replaced, and other policy changes them.
import { AssistantMessage, type Message, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { continuedHash, emptyHash, hashOfState, textHash } from "../facts/index.ts";
import { List } from "../state/index.ts";
import { AssembledRequest, GrowingSum } from "./assembled-request.ts";
import { estimateTokens, sumTokens } from "./middleware/estimate-tokens.ts";
import { pruneToolOutputs } from "./middleware/prune-tool-outputs.ts";
import { slidingWindow } from "./middleware/sliding-window.ts";
import { sameBeginning } from "./own-views.ts";

type Change =
	| { readonly kind: "grow"; readonly sizes: readonly number[] }
	| { readonly kind: "edit" | "cut"; readonly at: number }
	| { readonly kind: "plain" | "copied" };

const change: fc.Arbitrary<Change> = fc.oneof(
	{
		weight: 6,
		arbitrary: fc.record({
			kind: fc.constant("grow" as const),
			sizes: fc.array(fc.nat(400), { minLength: 1, maxLength: 4 }),
		}),
	},
	{
		weight: 1,
		arbitrary: fc.record({ kind: fc.constantFrom("edit" as const, "cut" as const), at: fc.nat(1_000) }),
	},
	{ weight: 1, arbitrary: fc.record({ kind: fc.constantFrom("plain" as const, "copied" as const) }) },
);

interface Stage {
	assemble(messages: readonly Message[], request: AssembledRequest): unknown;
}

let calls = 0;
function rounds(sizes: readonly number[]): Message[] {
	return sizes.flatMap((size) => {
		const toolCallId = `c${++calls}`;
		const call = { toolCallId, toolName: "look", arguments: {} };
		const note =
			size % 3 === 0
				? `[This result is long: ${size}. Read it with read_result and the id "${toolCallId}".]\n`
				: "";
		return [
			new AssistantMessage("", [call]),
			new ToolResultMessage([{ toolCallId, result: `${note}${"x".repeat(size)}` }]),
			...(size % 7 === 0 ? [new UserMessage("More.")] : []),
		];
	});
}

function changed(history: List<Message>, { kind, ...more }: Change): List<Message> {
	if (kind === "grow") return history.appendAll(rounds((more as { sizes: readonly number[] }).sizes));
	if (kind !== "edit" && kind !== "cut") return history;
	const at = 1 + ((more as { at: number }).at % history.length);
	const rest = kind === "cut" ? [] : [new UserMessage("Edited."), ...history.from(at + 1)];
	return history.until(at).appendAll(rest);
}

const stages = {
	"pruneToolOutputs() without blocks": () =>
		pruneToolOutputs({ contextLimit: 300, outputReserve: 0, protectRecent: 150 }),
	"pruneToolOutputs() in blocks": () =>
		pruneToolOutputs({ contextLimit: 300, outputReserve: 0, protectRecent: 100, block: 100 }),
	"slidingWindow() by tokens": () => slidingWindow({ maxTokens: 300 }),
};

describe("a stage that remembers the previous request", () => {
	test.each(Object.keys(stages) as (keyof typeof stages)[])("%s shows what a new one shows", async (name) => {
		const input = new UserMessage("Go.");
		const run = { kind: "turn", context: { input } };
		const begin = () => stages[name]().begin?.(run as never) as Stage;
		await fc.assert(
			fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 25 }), async (changes) => {
				const kept = begin();
				let history = List.from<Message>([input]);
				let cuts: Record<string, string> = {};
				let before: readonly Message[] = [];
				for (const each of changes) {
					history = changed(history, each);
					const messages = history.from(0);
					const given = each.kind === "copied" ? [...messages] : messages;
					const ask = (stage: Stage) => {
						const sent = { fingerprint: "", length: 0, cuts };
						const request = new AssembledRequest(
							messages,
							each.kind === "plain" ? { sent } : { history, sent },
						);
						return { shown: stage.assemble(given, request) as readonly Message[], moved: request.moved };
					};
					const [one, other] = [ask(kept), ask(begin())];
					expect(one.shown).toEqual(other.shown);
					expect(one.moved).toEqual(other.moved);
					const same = sameBeginning(one.shown, before);
					expect(one.shown.slice(0, same).every((message, at) => message === before[at])).toBe(true);
					expect(one.shown[same] === before[same] && same < Math.min(one.shown.length, before.length)).toBe(
						false,
					);
					before = one.shown;
					cuts = { ...cuts, ...one.moved };
				}
			}),
			{ numRuns: 150 },
		);
	});

	test("a sum is that of all messages from its position on", () => {
		fc.assert(
			fc.property(fc.array(fc.tuple(change, fc.nat(1_000)), { minLength: 1, maxLength: 25 }), (changes) => {
				const sum = new GrowingSum(estimateTokens);
				let history = List.from<Message>([new UserMessage("Go.")]);
				for (const [each, position] of changes) {
					history = changed(history, each);
					const messages = history.from(0);
					const from = position % (messages.length + 1);
					const found = sum.of(messages, each.kind === "plain" ? undefined : history, from);
					expect(found).toBeCloseTo(sumTokens(messages.slice(from), estimateTokens), 6);
					const to = Math.floor((from + messages.length) / 2);
					expect(sum.between(from, to)).toBeCloseTo(sumTokens(messages.slice(from, to), estimateTokens), 6);
				}
			}),
			{ numRuns: 300 },
		);
	});

	test("the hash of a text in parts is that of the text, as earlier releases computed it", () => {
		for (const [text, hash] of [
			["", "bdcb81aee8d83"],
			["The minutes of the meeting.", "16efa19345795"],
			["\u00e9\u{1f600}", "16db748ff104e"],
		] as const) {
			const parts = [text.slice(0, 3), text.slice(3)];
			expect(textHash(text)).toBe(hash);
			expect(hashOfState(parts.reduce(continuedHash, emptyHash))).toBe(hash);
		}
	});
});
