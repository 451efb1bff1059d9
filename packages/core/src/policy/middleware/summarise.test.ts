import { scriptedModel } from "@holdfast/testing";
import {
	AssistantMessage,
	type LLMRequest,
	llm,
	type Message,
	ToolResultMessage,
	UserMessage,
} from "@holdfast/upp";
import { describe, expect, test, vi } from "vitest";
import { aroundRun } from "../around-run.ts";
import { contextOf, historyAfter, orphans, resultOf, toolRound } from "./middleware-face.fixture.ts";
import type { MiddlewareContext } from "./middleware-face.ts";
import { pruneToolOutputs } from "./prune-tool-outputs.ts";
import { slidingWindow } from "./sliding-window.ts";
import { summarise, summarize } from "./summarise.ts";

const head = "[Previous conversation summary]";
/** Every message takes one token. */
const estimate = (): number => 1;

function chat(count: number): readonly Message[] {
	return Array.from({ length: count }, (_, at) =>
		at % 2 === 0 ? new UserMessage(`question ${at}`) : new AssistantMessage(`answer ${at}`),
	);
}

describe("a summary", () => {
	test("is not requested up to the threshold [UAP-062]", async () => {
		const summarizer = vi.fn(() => "short");
		const middleware = summarise({ summarizer, threshold: 20, estimate });
		expect(await middleware.before?.(contextOf(chat(20)))).toBeUndefined();
		expect(summarizer).not.toHaveBeenCalled();
		expect(await historyAfter(contextOf(chat(21)), middleware)).toHaveLength(11);
		expect(summarizer).toHaveBeenCalledOnce();
	});

	test("replaces all messages except the recent ones, ten by default [UAP-062]", async () => {
		const messages = chat(21);
		const given: (readonly Message[])[] = [];
		const summarizer = (_: string, old: readonly Message[]): string => {
			given.push(old);
			return "They talked.";
		};
		const context = contextOf(messages);
		const [first, ...recent] = await historyAfter(
			context,
			summarise({ summarizer, threshold: 20, estimate }),
		);
		expect(first).toBeInstanceOf(UserMessage);
		expect(first?.text).toBe(`${head}\nThey talked.`);
		expect(recent).toEqual(messages.slice(-10));
		expect(given).toEqual([messages.slice(0, 11)]);
		expect(context.metadata.summary).toEqual({ messages: 11 });
		const [, ...three] = await historyAfter(
			contextOf(messages),
			summarise({ summarizer, threshold: 20, keepRecent: 3, estimate }),
		);
		expect(three).toEqual(messages.slice(-3));
	});

	test("is written by a model, by an llm() with its own options, or by a function", async () => {
		const model = scriptedModel((request) => `${request.system ?? "plain"}: ${request.messages[0]?.text}`);
		const options = { threshold: 1, keepRecent: 1, estimate };
		const messages = chat(3);
		const request =
			"Summarize this conversation, preserving key facts:\nuser: question 0\nassistant: answer 1";
		const context = contextOf(messages);
		const [byModel] = await historyAfter(context, summarise({ model, ...options }));
		expect(byModel?.text).toBe(`${head}\nplain: ${request}`);
		expect(context.metadata.summary).toMatchObject({ messages: 2, usage: { totalTokens: 15 } });
		const instance = llm({ model, system: "Be brief." });
		const [byInstance] = await historyAfter(contextOf(messages), summarize({ llm: instance, ...options }));
		expect(byInstance?.text).toBe(`${head}\nBe brief.: ${request}`);
		const [byFunction] = await historyAfter(
			contextOf(messages),
			summarise({ summarizer: async (given) => given, prompt: "Short:", ...options }),
		);
		expect(byFunction?.text).toBe(`${head}\nShort:\nuser: question 0\nassistant: answer 1`);
	});

	test("contains calls and results as text, without the bytes of media", async () => {
		const requests: LLMRequest[] = [];
		const model = scriptedModel((request) => {
			requests.push(request);
			return "short";
		});
		const image = {
			type: "image" as const,
			source: { type: "bytes" as const, data: new Uint8Array(5000) },
			mimeType: "image/png",
		};
		const messages = [
			new UserMessage([{ type: "text", text: "look" }, image]),
			...toolRound(["1"], { bytes: new Uint8Array(3000) }),
			new ToolResultMessage([{ toolCallId: "1", result: "no", isError: true }]),
			new AssistantMessage("seen"),
		];
		await historyAfter(contextOf(messages), summarise({ model, threshold: 0, keepRecent: 1, estimate }));
		expect(requests[0]?.messages[0]?.text.split("\n").slice(1)).toEqual([
			"user: look",
			"[image]",
			'assistant calls read: {"id":"1"}',
			'result of read: {"bytes":"[3000 bytes]"}',
			"error of read: no",
		]);
	});

	test("leaves no result without its call at the start of the kept messages [UAP-063]", async () => {
		const messages = [...chat(4), ...toolRound(["1"], "output"), new AssistantMessage("done")];
		for (let keepRecent = 0; keepRecent < messages.length; keepRecent++) {
			const options = { summarizer: () => "short", threshold: 1, keepRecent, estimate };
			const history = await historyAfter(contextOf(messages), summarise(options));
			expect(orphans(history)).toEqual([]);
			expect(history.length).toBe(1 + (keepRecent === 2 ? 3 : keepRecent));
		}
	});

	test("that fails or is empty discards no message, and is reported [UAP-063]", async () => {
		const broken = new Error("no luck");
		const failing = (): never => {
			throw broken;
		};
		const messages = chat(12);
		const context = contextOf(messages);
		const emitted: unknown[] = [];
		const onError = (error: unknown): void => void emitted.push(error);
		const options = { threshold: 1, estimate };
		const after = await historyAfter(context, summarise({ summarizer: failing, onError, ...options }));
		expect(after).toEqual(messages);
		expect(emitted).toEqual([broken]);
		expect(context.metadata.summaryError).toBe(broken);
		const silent = summarise({ model: scriptedModel([" "]), ...options });
		const empty = contextOf(messages);
		expect(await historyAfter(empty, silent)).toEqual(messages);
		expect(empty.metadata.summaryError).toMatchObject({ code: "INVALID_RESPONSE" });
	});

	test("fails the call if `onError` throws", async () => {
		const broken = new Error("no luck");
		const options = {
			summarizer: () => Promise.reject(broken),
			onError: (error: unknown): never => {
				throw error;
			},
			threshold: 1,
			estimate,
		};
		await expect(summarise(options).before?.(contextOf(chat(12)))).rejects.toBe(broken);
	});

	test("requires a writer", () => {
		expect(() => summarise({})).toThrow(/Give `model`, `llm` or `summarizer`/);
		expect(() => summarise({ model: scriptedModel([]), summarizer: () => "" })).toThrow(/Several of/);
	});
});

describe("middlewares that shorten a history", () => {
	test("apply to the output of the previous one, and keep the caller's state unchanged [UAP-064]", async () => {
		const messages = [new UserMessage("old"), ...toolRound(["1"], "output"), ...chat(6)];
		const context = contextOf(messages);
		const seen: (readonly Message[])[] = [];
		// By the length of their JSON these messages would stay far below both limits.
		const heavy = (): number => 4000;
		const list = [
			pruneToolOutputs({ contextLimit: 20_000, outputReserve: 0, protectRecent: 24_000, estimate: heavy }),
			{ name: "look", before: ({ state }: MiddlewareContext) => void seen.push(state.messages) },
			slidingWindow(5),
			summarise({
				summarizer: (_, old) => `${old.length}`,
				threshold: 12_000,
				keepRecent: 2,
				estimate: heavy,
			}),
		];
		await aroundRun(list, context, async ({ state }) => {
			seen.push(state.messages);
			return resultOf("done", state);
		});
		const [pruned, history] = seen;
		expect(pruned?.[2]?.text).toBe("[Output cleared - context limit]");
		expect(history?.map(({ text }) => text)).toEqual([`${head}\n2`, "question 4", "answer 5"]);
		expect(context.state.messages).toEqual(messages);
		expect(context.state.messages[2]?.text).toBe("output");
	});
});
