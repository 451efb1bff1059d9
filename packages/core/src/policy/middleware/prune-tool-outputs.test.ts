import { AssistantMessage, ToolResultMessage, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { contextOf, historyAfter, toolRound } from "./middleware-face.fixture.ts";
import { pruneToolOutputs } from "./prune-tool-outputs.ts";

const cleared = "[Output cleared - context limit]";
const history = [
	new UserMessage("a"),
	...toolRound(["1", "2", "3"], "old output"),
	new AssistantMessage("b"),
	...toolRound(["4"], "new output"),
	new AssistantMessage("c"),
];
/** Every message takes ten tokens: seventy together. */
const estimate = (): number => 10;

describe("pruning tool outputs", () => {
	test("changes nothing up to the limit minus the reserve [UAP-058]", async () => {
		const middleware = pruneToolOutputs({ contextLimit: 80, outputReserve: 10, protectRecent: 0, estimate });
		const context = contextOf(history);
		expect(await middleware.before?.(context)).toBeUndefined();
		const tighter = pruneToolOutputs({ contextLimit: 80, outputReserve: 11, protectRecent: 0, estimate });
		expect(await historyAfter(context, tighter)).not.toEqual(history);
	});

	test("clears outputs older than the protected tokens and keeps all other messages unchanged [UAP-058]", async () => {
		const middleware = pruneToolOutputs({ contextLimit: 60, outputReserve: 0, protectRecent: 20, estimate });
		const messages = await historyAfter(contextOf(history), middleware);
		for (const at of [0, 1, 3, 4, 5, 6]) expect(messages[at]).toBe(history[at]);
		expect((messages[2] as ToolResultMessage).results.map(({ result }) => result)).toEqual(
			Array(3).fill(cleared),
		);
		const all = pruneToolOutputs({ contextLimit: 60, outputReserve: 0, protectRecent: 19, estimate });
		const more = await historyAfter(contextOf(history), all);
		expect((more[5] as ToolResultMessage).results[0]?.result).toBe(cleared);
	});

	test("keeps a placeholder for each result of a message, with its id [UAP-059]", async () => {
		const failed = new ToolResultMessage([
			{ toolCallId: "1", result: { long: "output" } },
			{ toolCallId: "2", result: "failed", isError: true },
			{ toolCallId: "3", result: null },
		]);
		const middleware = pruneToolOutputs({ contextLimit: 0, outputReserve: 0, protectRecent: 0 });
		const [message] = await historyAfter(contextOf([failed]), middleware);
		expect(message).toBeInstanceOf(ToolResultMessage);
		expect(message).toMatchObject({ id: failed.id, timestamp: failed.timestamp });
		expect((message as ToolResultMessage).results).toEqual([
			{ toolCallId: "1", result: cleared },
			{ toolCallId: "2", result: cleared, isError: true },
			{ toolCallId: "3", result: cleared },
		]);
	});

	test("changes nothing when it is applied again", async () => {
		const middleware = pruneToolOutputs({ contextLimit: 0, outputReserve: 0, protectRecent: 0 });
		const once = await historyAfter(contextOf(history), middleware);
		expect(await middleware.before?.(contextOf(once))).toBeUndefined();
	});

	test("estimates a token as four characters of JSON, and has a limit of 184,000 tokens", async () => {
		const sizeOf = (text: string): number => JSON.stringify(new UserMessage(text)).length;
		const base = sizeOf("") + JSON.stringify(toolRound(["1"], "output")[1]).length;
		const tool = toolRound(["1"], "output")[1] as ToolResultMessage;
		const fits = new UserMessage("x".repeat(184_000 * 4 - base));
		const middleware = pruneToolOutputs();
		expect(await middleware.before?.(contextOf([tool, fits]))).toBeUndefined();
		const over = new UserMessage("x".repeat(184_000 * 4 - base + 1));
		const [first] = await historyAfter(contextOf([tool, over]), middleware);
		expect((first as ToolResultMessage).results[0]?.result).toBe(cleared);
	});

	test("rejects limits that are not numbers", () => {
		expect(() => pruneToolOutputs({ contextLimit: Number.NaN })).toThrow(/contextLimit/);
		expect(() => pruneToolOutputs({ protectRecent: -1 })).toThrow(/protectRecent/);
	});
});
