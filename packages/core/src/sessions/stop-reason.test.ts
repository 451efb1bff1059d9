// Why a model stopped is part of what every way of running gives: an answer that was cut off does not look like a whole one.
import { AssistantMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { agent } from "../agent/agent.ts";
import { play } from "./sessions.fixture.ts";

describe.each(["stop", "length", "content_filter", "error", "other"] as const)(
	"an answer that ended with %s",
	(stopReason) => {
		test("says so in a session and in a function", async () => {
			const { session, model } = play(() => ({ text: "half of an answ", stopReason }));
			const result = await (await session.send("go")).result();
			expect(result).toMatchObject({ text: "half of an answ", stopReason, turn: { stopReason } });
			const given = await agent({ model }).generate("go");
			expect(given).toMatchObject({ stopReason, turn: { stopReason } });
		});
	},
);

test("a reason that nobody knows is `other`, and the answer stays", async () => {
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

test("the text of an answer that cites its sources is what was streamed", () => {
	const cited = ["The sky is ", "blue", " and wide."].map((text) => ({ type: "text" as const, text }));
	expect(new AssistantMessage(cited).text).toBe("The sky is blue and wide.");
});
