import { type LLMRequest, llm, type StreamEvent, UPPError } from "@holdfast/upp";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ScriptedReply, scriptedModel } from "./scripted-model.ts";

/** Returns the deltas that one reply streams. */
async function streamed(reply: string | ScriptedReply): Promise<StreamEvent[]> {
	const stream = llm({ model: scriptedModel([reply]) }).stream("go");
	const events: StreamEvent[] = [];
	for await (const event of stream) events.push(event);
	return events;
}

test("text and reasoning are streamed in pieces that join to the original", async () => {
	const replies = fc.record(
		{
			text: fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "é", "😀", "\u2003") }),
			reasoning: fc.string(),
			deltas: fc.integer({ min: 1, max: 9 }),
		},
		{ requiredKeys: [] },
	);
	await fc.assert(
		fc.asyncProperty(replies, async (reply) => {
			const events = await streamed(reply as ScriptedReply);
			for (const [type, whole] of [
				["text_delta", reply.text],
				["reasoning_delta", reply.reasoning],
			] as const) {
				const pieces = events.filter((event) => event.type === type).map((event) => event.delta.text);
				expect(pieces.join("")).toBe(whole ?? "");
				if (reply.deltas !== undefined) expect(pieces.length).toBeLessThanOrEqual(reply.deltas);
			}
		}),
		{ numRuns: 100 },
	);
});

test("replies are returned in order, a function is called with the request and the number of the call", async () => {
	const listed = llm({ model: scriptedModel(["one", { text: "two" }]) });
	expect((await listed.generate("a")).response.text).toBe("one");
	expect((await listed.generate("b")).response.text).toBe("two");
	const asked: [LLMRequest, number][] = [];
	const model = scriptedModel((request, call) => {
		asked.push([request, call]);
		return `call ${call}`;
	});
	await llm({ model }).generate("a");
	expect((await llm({ model }).generate("b")).response.text).toBe("call 1");
	expect(asked.map(([request]) => request)).toEqual(model.requests);
});

test("a call after the end of the script fails with an explanation", async () => {
	const call = llm({ model: scriptedModel([]) }).generate("go");
	await expect(call).rejects.toMatchObject({
		code: "INVALID_REQUEST",
		message: expect.stringContaining("0 replies"),
	});
});

test("an error is thrown after the content before it, as the same object", async () => {
	const error = new UPPError("down", "NETWORK_ERROR", "scripted", "llm");
	const stream = llm({ model: scriptedModel([{ text: "so far", error }]) }).stream("go");
	const texts: (string | undefined)[] = [];
	const read = (async () => {
		for await (const event of stream) if (event.type === "text_delta") texts.push(event.delta.text);
	})();
	await expect(read).rejects.toBe(error);
	await expect(stream.turn).rejects.toBe(error);
	expect(texts.join("")).toBe("so far");
});

test("a reply with a gate waits for it, and rejects when it is aborted", async () => {
	const gate = Promise.withResolvers<void>();
	const waiting = llm({ model: scriptedModel([{ gate: gate.promise, text: "at last" }]) }).generate("go");
	gate.resolve();
	expect((await waiting).response.text).toBe("at last");
	const stuck = llm({ model: scriptedModel([{ gate: new Promise(() => {}) }]) }).stream("go");
	stuck.abort();
	await expect(stuck.turn).rejects.toMatchObject({ code: "CANCELLED" });
});
