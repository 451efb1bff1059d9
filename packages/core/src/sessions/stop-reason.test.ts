// Every way of running returns why a model stopped: an answer that was cut off must not look like a complete one.
import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { agent } from "../agent/agent.ts";
import { createSession, execute } from "../execute/create-session.ts";
import { eventsOf, play } from "./sessions.fixture.ts";

describe.each(["stop", "length", "content_filter", "error", "other"] as const)(
	"an answer that ended with %s",
	(stopReason) => {
		test("reports it in a session and in a function", async () => {
			const { session, model } = play(() => ({ text: "half of an answ", stopReason }));
			const result = await (await session.send("go")).result();
			expect(result).toMatchObject({ text: "half of an answ", stopReason, turn: { stopReason } });
			const given = await agent({ model }).generate("go");
			expect(given).toMatchObject({ stopReason, turn: { stopReason } });
		});
	},
);

test("an unknown reason is `other`, and the answer stays", async () => {
	const { session } = play(() => ({ text: "an answer", stopReason: "tired" as never }));
	expect(await (await session.send("go")).result()).toMatchObject({
		outcome: "completed",
		text: "an answer",
		stopReason: "other",
	});
});

test("a run without an answer has none", async () => {
	const { session } = play([{ error: new Error("down") }]);
	expect(await (await session.send("go")).result()).not.toHaveProperty("stopReason");
});

test("the text of an answer that cites its sources is the streamed text", () => {
	const cited = ["The sky is ", "blue", " and wide."].map((text) => ({ type: "text" as const, text }));
	expect(new AssistantMessage(cited).text).toBe("The sky is blue and wide.");
});

test.each(["length", "other", "content_filter", "stop"] as const)(
	"the events of a run that ended with %s report it",
	async (stopReason) => {
		const { session } = play(() => ({ text: "half of an answ", stopReason }));
		const run = await session.send("go");
		const ends: unknown[] = [];
		for await (const event of run.watch()) if (event.type === "run_end") ends.push(event);
		expect(ends).toMatchObject([{ outcome: "completed", stopReason }]);
		const last = (await eventsOf(await session.send("again"))).at(-1);
		expect(last).toEqual({ type: "turn-end", ...(stopReason === "stop" ? {} : { stopReason }) });
	},
);

test.each([
	["length", "completed", "length"],
	["other", "completed", "other"],
	["stop", "completed", undefined],
	["content_filter", "error", undefined],
] as const)(
	"an execution whose answer ended with %s is %s and has the reason %s",
	async (given, status, shown) => {
		const model = scriptedModel([{ text: "half of an answ", stopReason: given }]);
		const session = createSession("s", {}, { model });
		const result = await execute(session, { role: "user", content: "go" }).result();
		expect([result.status, result.stopReason]).toEqual([status, shown]);
	},
);

describe("the text of an answer that never finished is the streamed text", () => {
	test("if the provider failed", async () => {
		const { session } = play([{ text: "half of an", error: new Error("down") }, "whole"]);
		const result = await (await session.send("go")).result();
		expect(result).toMatchObject({ outcome: "error", text: "half of an" });
		expect(result).not.toHaveProperty("stopReason");
		expect(await (await session.send("again")).result()).toMatchObject({ text: "whole", stopReason: "stop" });
	});

	test("if it was interrupted after another answer", async () => {
		const reached = Promise.withResolvers<void>();
		const { session } = play(
			[
				{ text: "I look.", toolCalls: [{ name: "look" }] },
				{
					text: "one two three",
					beforeDelta: (number) => {
						if (number < 2) return undefined;
						reached.resolve();
						return new Promise(() => {});
					},
				},
			],
			{ tools: [{ name: "look", description: "Looks.", parameters: {}, run: () => "seen" }] },
		);
		const run = await session.send("go");
		const ended = run.result();
		await reached.promise;
		run.interrupt();
		const result = await ended;
		expect(result).toMatchObject({ outcome: "aborted", text: "one two" });
		expect(result).not.toHaveProperty("stopReason");
		expect(result.turn?.response.text).toBe("I look.");
	});
});
