import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import type { AssistantMessage, ToolResultMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { faultsOfHistory } from "../engine/engine.fixture.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { AgentState } from "../state/agent-state.ts";
import type { AnyTool, ToolContext } from "../tools/types.ts";

const rm = (path: string): Reply => ({
	toolCalls: [{ name: "rm", id: "rm:0", arguments: { path } }],
});

type Reply = string | ScriptedReply;

/** An agent whose model gives every call of `rm` the same id. */
function repeating(replies: readonly Reply[], options: Partial<AnyTool> = {}) {
	const journal = memoryJournal();
	const contexts: ToolContext[] = [];
	const removed: unknown[] = [];
	const tool: AnyTool = {
		...anyTool("rm", (input, context) => {
			removed.push(input);
			contexts.push(context as ToolContext);
			return "removed";
		}),
		...options,
	};
	const make = (script = replies) =>
		new Agent({ model: scriptedModel([...script]), host: journalHost(journal), tools: [tool] });
	return { journal, contexts, removed, make, session: make().session("s") };
}

describe("a model that repeats the ids of calls", () => {
	test("each call has its own id and key, in a call and in a session, within a turn and across turns", async () => {
		const { make, contexts, session, removed } = repeating([rm("/a"), rm("/b"), "one", rm("/c"), "two"]);
		for (const input of ["go", "more"]) await (await session.send(input)).result();
		const { state } = await make([rm("/d"), "one"]).generate("go", AgentState.initial());
		await make([rm("/e"), "two"]).generate("go", state);
		expect(removed).toHaveLength(5);
		expect(new Set(contexts.slice(0, 3).map(({ toolCallId }) => toolCallId)).size).toBe(3);
		expect(new Set(contexts.slice(3).map(({ toolCallId }) => toolCallId)).size).toBe(2);
		expect(new Set(contexts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(5);
		expect(contexts[0]?.toolCallId).toBe("rm:0");
	});

	test("the provider's id is stored next to Holdfast's, and the history stays whole", async () => {
		const { session } = repeating([rm("/a"), rm("/b"), "done"]);
		const { state } = await (await session.send("go")).result();
		expect(faultsOfHistory(state.messages)).toEqual([]);
		const [first, second] = state.messages.flatMap((each) => (each as AssistantMessage).toolCalls ?? []);
		expect(first).not.toHaveProperty("providerCall");
		expect(second).toMatchObject({ providerCall: { id: "rm:0", modelId: "scripted" } });
		expect(second?.toolCallId).not.toBe("rm:0");
		expect((state.messages[4] as ToolResultMessage).results[0]?.toolCallId).toBe(second?.toolCallId);
	});

	test("events and deltas name a call by the same id", async () => {
		const { session } = repeating([rm("/a"), rm("/b"), "done"]);
		const ids = new Set<unknown>();
		const run = await session.send("go");
		for await (const event of run.events()) {
			const { toolCallId } = event as { toolCallId?: string };
			if (toolCallId !== undefined) ids.add(toolCallId);
		}
		expect(ids.size).toBe(2);
	});

	test("an approval reaches its own call, and never a later one of the same id", async () => {
		for (const restarts of [false, true]) {
			const { session, removed, make } = repeating([rm("/tmp"), rm("/home"), "done"], {
				needsApproval: true,
			});
			const first = (await (await session.send("go")).result()).pending?.[0];
			expect(first?.toolCallId).toBe("rm:0");
			const second = await (await session.answer([{ toolCallId: "rm:0", approved: true }])).result();
			const [asked] = second.pending ?? [];
			expect(asked).toMatchObject({ arguments: { path: "/home" } });
			expect(asked?.toolCallId).not.toBe("rm:0");
			const later = restarts ? make(["done"]).session("s") : session;
			for (const approved of [true, false])
				await expect(later.answer([{ toolCallId: "rm:0", approved }])).rejects.toMatchObject({
					code: "tool_call_settled",
				});
			expect(removed).toEqual([{ path: "/tmp" }]);
			await (await later.answer([{ toolCallId: asked?.toolCallId ?? "", approved: true }])).result();
			expect(removed).toHaveLength(2);
		}
	});

	test("a late result for a settled remote call does not reach the next call of that id, also in a later turn", async () => {
		const { session } = repeating([rm("/a"), "one", rm("/b"), "two"], { run: undefined as never });
		await (await session.send("go")).result();
		await (await session.answer([{ toolCallId: "rm:0", output: "done" }])).result();
		const { pending } = await (await session.send("more")).result();
		expect(pending).toHaveLength(1);
		await expect(session.answer([{ toolCallId: "rm:0", output: "late" }])).rejects.toMatchObject({
			code: "tool_call_settled",
		});
		expect(await session.pending()).toEqual(pending);
	});
});
