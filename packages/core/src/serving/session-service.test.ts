import { expect, test } from "vitest";
import { memoryHost } from "../journal/index.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import type { LoggedEvent } from "./session-log.ts";
import { sessionService } from "./session-service.ts";

async function read(events: AsyncIterable<readonly LoggedEvent[]>): Promise<LoggedEvent[]> {
	const all: LoggedEvent[] = [];
	for await (const batch of events) all.push(...batch);
	return all;
}

test("an execution is read from its log, from any event on [API-066, API-074]", async () => {
	const service = sessionService({
		host: memoryHost(),
		agent: { model: scriptedModel(["one two three", "more"]) },
	});
	const { after } = await service.submit("t", "s", { input: "Hi", context: {} });
	const events = await read(service.follow("t", "s", { after, until: "complete" }));
	expect(events.map(({ event }) => event.type)).toEqual([
		"session_start",
		"message_start",
		"message_end",
		"message_start",
		"text_start",
		"text_delta",
		"text_end",
		"message_end",
		"session_end",
		"execute_complete",
	]);
	for (const [index, { id }] of events.entries())
		expect(await read(service.follow("t", "s", { after: id }))).toEqual(events.slice(index + 1));
	const again = await service.submit("t", "s", { input: "More" });
	expect(again.created).toBe(false);
	const more = await read(service.follow("t", "s", { after: again.after, until: "complete" }));
	expect(more[0]?.event.type).toBe("session_start");
	const all = await read(service.follow("t", "s"));
	expect(all).toEqual([...events, ...more]);
	const info = await service.get("t", "s");
	expect(info).toMatchObject({ status: "completed", lastEventId: all.at(-1)?.id });
	expect(info?.messages).toHaveLength(4);
	expect(await service.get("other", "s")).toBeUndefined();
	await service.close();
});
