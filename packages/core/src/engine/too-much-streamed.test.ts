// A tool that streams without an end fails by itself, however it streams.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { tool } from "../tools/index.ts";

const piece = "x".repeat(1024 * 1024);

test.each(["yields", "emits"] as const)(
	"a call that %s without an end becomes an error result, and its source is left",
	async (how) => {
		let pieces = 0;
		let isLeft = false;
		async function* endless(): AsyncGenerator<string> {
			try {
				for (;;) {
					pieces++;
					yield piece;
				}
			} finally {
				isLeft = true;
			}
		}
		const flood = tool({
			name: "flood",
			description: "Streams.",
			parameters: { type: "object" },
			run: (_, { emit }) => {
				if (how === "yields") return endless();
				isLeft = true;
				for (;;) {
					pieces++;
					emit(piece);
				}
			},
		});
		const model = scriptedModel([{ toolCalls: [{ name: "flood" }] }, "Too much."]);
		const { turn } = await new Agent({ model, tools: [flood] }).generate("Go.");
		expect(turn.toolExecutions[0]).toMatchObject({ isError: true });
		expect(JSON.stringify(turn.toolExecutions[0])).toContain("has streamed more than");
		expect(pieces).toBe(17);
		expect(isLeft).toBe(true);
		expect(turn.response.text).toBe("Too much.");
	},
);
