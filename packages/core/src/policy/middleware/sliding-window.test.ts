import { AssistantMessage, type Message, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contextOf, historyAfter, orphans, toolRound } from "./middleware-face.fixture.ts";
import { slidingWindow } from "./sliding-window.ts";

function chat(exchanges: number): readonly Message[] {
	return Array.from({ length: exchanges }, (_, at) => [
		new UserMessage(`question ${at}`),
		new AssistantMessage(`answer ${at}`),
	]).flat();
}

/** Histories of exchanges with rounds of tools. */
const histories = fc
	.array(fc.nat({ max: 4 }), { maxLength: 12 })
	.map((exchanges) =>
		exchanges.flatMap((rounds, exchange) => [
			new UserMessage("question"),
			...Array.from({ length: rounds }, (_, round) => toolRound([`${exchange}-${round}`], "output")).flat(),
			new AssistantMessage("answer"),
		]),
	);

describe("a sliding window", () => {
	test("keeps the most recent messages, fifty by default [UAP-060]", async () => {
		const messages = chat(26);
		expect(await historyAfter(contextOf(messages), slidingWindow())).toEqual(messages.slice(2));
		expect(await historyAfter(contextOf(messages), slidingWindow(4))).toEqual(messages.slice(-4));
		expect(await historyAfter(contextOf(messages), slidingWindow({ max: 6 }))).toEqual(messages.slice(-6));
	});

	test("changes nothing while there are no more [UAP-060]", async () => {
		expect(await slidingWindow(4).before?.(contextOf(chat(2)))).toBeUndefined();
		expect(await slidingWindow().before?.(contextOf(chat(25)))).toBeUndefined();
	});

	test("starts with a user message and never separates a result from its call, in any history [UAP-060] [UAP-061]", async () => {
		await fc.assert(
			fc.asyncProperty(histories, fc.integer({ min: 1, max: 20 }), async (messages, max) => {
				const kept = await historyAfter(contextOf(messages), slidingWindow(max));
				expect(kept.length).toBeLessThanOrEqual(max);
				if (kept.length > 0) expect(kept[0]?.type).toBe("user");
				expect(orphans(kept)).toEqual([]);
				const tail = kept.slice(1);
				expect(tail).toEqual(tail.length === 0 ? [] : messages.slice(-tail.length));
			}),
		);
	});

	test("with a block, keeps between `max - block` and `max` messages, and starts in the same place for a block", async () => {
		await fc.assert(
			fc.asyncProperty(
				histories,
				fc.integer({ min: 1, max: 12 }),
				fc.integer({ min: 1, max: 12 }),
				async (messages, max, drawn) => {
					const block = Math.min(drawn, max);
					const kept = await historyAfter(contextOf(messages), slidingWindow({ max, block }));
					expect(kept.length).toBeLessThanOrEqual(max);
					expect(orphans(kept)).toEqual([]);
				},
			),
		);
		const starts: number[] = [];
		for (let exchanges = 1; exchanges <= 12; exchanges++) {
			const messages = chat(exchanges);
			const [first] = await historyAfter(contextOf(messages), slidingWindow({ max: 8, block: 4 }));
			starts.push(messages.findIndex(({ text }) => text === first?.text));
		}
		expect(starts).toEqual([0, 0, 0, 0, 4, 4, 8, 8, 12, 12, 16, 16]);
	});

	test("rejects a block that is larger than the window, or not a whole number", () => {
		expect(() => slidingWindow({ max: 4, block: 5 })).toThrow(
			expect.objectContaining({ code: "conflicting_options" }),
		);
		for (const block of [0, 1.5, -1])
			expect(() => slidingWindow({ block })).toThrow(expect.objectContaining({ code: "invalid_option" }));
	});

	test("cuts before the next question if the limit is between a call and its result [UAP-061]", async () => {
		const messages = [new UserMessage("a"), ...toolRound(["1"], "output"), ...chat(1)];
		expect(await historyAfter(contextOf(messages), slidingWindow(3))).toEqual(messages.slice(3));
	});

	test("keeps the question of an answer that is longer than the window", async () => {
		const rounds = Array.from({ length: 5 }, (_, at) => toolRound([`${at}`], "output")).flat();
		const messages = [...chat(1), new UserMessage("long"), ...rounds];
		expect(await historyAfter(contextOf(messages), slidingWindow(4))).toEqual([
			messages[2],
			...messages.slice(-2),
		]);
	});

	test("rejects limits below one", () => {
		expect(() => slidingWindow(0)).toThrow(/max/);
		expect(() => slidingWindow({ max: 1.5 })).toThrow(/max/);
	});
});
