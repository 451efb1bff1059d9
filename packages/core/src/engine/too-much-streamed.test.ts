// A tool that streams endlessly fails by itself, however it streams.

import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { memoryHost } from "../host/memory-host.ts";
import { sqliteHost } from "../sqlite.ts";
import { tool } from "../tools/index.ts";

const piece = "x".repeat(1024 * 1024);

test.each(["yields", "emits"] as const)(
	"a call that %s without an end becomes an error result, and its source is cancelled",
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

/** Streams 10 characters. */
const tells = tool({
	name: "tells",
	description: "Streams.",
	parameters: { type: "object" },
	async *run() {
		yield "01234";
		yield "56789";
	},
});

const calls = { toolCalls: [{ name: "tells" }] };
const agentWith = (more: AgentOptions) =>
	new Agent({
		model: scriptedModel((_, number) => (number % 2 === 0 ? calls : "ok")),
		tools: [tells],
		...more,
	});

describe("maxStreamed", () => {
	test.each([
		["memory", () => memoryHost()],
		["SQLite", () => sqliteHost(join(temporaryFolder(), "s.db"))],
	])(
		"limits the streamed text of a session over all its runs, also in another process: %s",
		async (_, makeHost) => {
			const host = makeHost();
			const more = { host, keepDeltasMs: 5, maxStreamed: { perSession: 25 } };
			const settled = async (agent: Agent, key: string): Promise<unknown> => {
				await (await agent.session(key).send("go")).result();
				const facts = (await host.journal.read(key)).map(({ fact }) => fact);
				return facts.findLast(({ kind }) => kind === "tool.settled");
			};
			const first = agentWith(more);
			expect(await settled(first, "s")).toMatchObject({ outcome: "done", streamed: 10 });
			expect(await settled(first, "s")).toMatchObject({ outcome: "done", streamed: 10 });
			await first.close();
			const second = agentWith(more);
			expect(await settled(second, "s")).toMatchObject({
				outcome: "error",
				streamed: 5,
				result: expect.stringContaining("maxStreamed.perSession"),
			});
			expect(await settled(second, "other")).toMatchObject({ outcome: "done" });
			await second.close();
			await host.close();
		},
	);

	test("counts each run separately if deltas are not kept, and in calls", async () => {
		const agent = agentWith({ maxStreamed: { perSession: 15 } });
		for (let turn = 0; turn < 3; turn++) {
			const {
				turn: { toolExecutions },
			} = await agent.generate("go");
			expect(toolExecutions[0]).toMatchObject({ isError: false });
			await (await agent.session("s").send("go")).result();
		}
		await agent.close();
		const { turn } = await agentWith({ maxStreamed: { perCall: 9 } }).generate("go");
		expect(turn.toolExecutions[0]).toMatchObject({ isError: true });
	});

	test.each([{ perCall: -1 }, { perSession: "1" }, { perRun: 1 }, 5])("%j is rejected", (maxStreamed) => {
		expect(() => agentWith({ maxStreamed: maxStreamed as never })).toThrow(
			expect.objectContaining({ code: "invalid_option" }),
		);
	});
});
