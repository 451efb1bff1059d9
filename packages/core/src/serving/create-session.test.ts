import { expect, test } from "vitest";
import { scriptedModel } from "../testing/scripted-model.ts";
import { createSession, execute } from "./create-session.ts";
import type { ExecuteEvent } from "./execute-event.ts";

const locate = { name: "locate", description: "Where the user is.", parameters: { type: "object" } };

async function all(stream: AsyncIterable<ExecuteEvent>): Promise<ExecuteEvent[]> {
	const events: ExecuteEvent[] = [];
	for await (const event of stream) events.push(event);
	return events;
}

const types = (events: readonly ExecuteEvent[]): string[] => events.map(({ type }) => type);

test("an execution tells its events in order and ends [API-001, API-002, API-003]", async () => {
	const session = createSession("s", {}, { model: scriptedModel(["Hello there."]) });
	expect(session).toMatchObject({ id: "s", status: "idle", totalCost: 0, messages: [] });
	const stream = execute(session, { role: "user", content: "Hi" });
	const events = await all(stream);
	expect(types(events)).toEqual([
		"session_start",
		"message_start",
		"message_end",
		"message_start",
		"text_start",
		"text_delta",
		"text_delta",
		"text_end",
		"message_end",
		"session_end",
	]);
	const result = await stream.result();
	expect(result.status).toBe("completed");
	expect(session.status).toBe("completed");
	expect(session.messages).toEqual(result.messages);
	expect(events.at(-1)).toEqual({ type: "session_end", sessionId: "s", messages: result.messages });
});

test("an execution that calls a remote tool suspends and is resumed", async () => {
	const model = scriptedModel([{ text: "Let me see", toolCalls: [{ name: "locate", id: "1" }] }, "Rome"]);
	const session = createSession("s", { tools: [locate] }, { model });
	const first = execute(session, { role: "user", content: "Where?" });
	const events = await all(first);
	expect(events.at(-1)).toEqual({
		type: "awaiting_tool_execution",
		sessionId: "s",
		toolCalls: [{ id: "1", name: "locate", arguments: {} }],
	});
	expect(session.pendingToolCalls).toEqual([{ id: "1", name: "locate", arguments: {} }]);
	const second = execute(session, [{ role: "tool", toolCallId: "1", output: "Rome" }]);
	expect(types(await all(second))).toEqual([
		"session_start",
		"message_start",
		"message_end",
		"message_start",
		"text_start",
		"text_delta",
		"text_end",
		"message_end",
		"session_end",
	]);
	expect(await second.result()).toMatchObject({
		status: "completed",
		messages: [{ role: "tool" }, { role: "assistant" }],
	});
	expect(session.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
});
