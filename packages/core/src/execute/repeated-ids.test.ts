// Ids that a model repeats within one answer.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { memoryHost } from "../host/memory-host.ts";
import { createSession, execute } from "./create-session.ts";

test("calls of one answer with the same id are streamed under the ids under which they wait", async () => {
	const toolCalls = ["/a", "/b", "/c"].map((path) => ({ name: "rm", id: "rm:0", arguments: { path } }));
	const host = memoryHost();
	const rm = { name: "rm", description: "Removes.", parameters: { type: "object" } };
	const options = { model: scriptedModel([{ toolCalls }]), host };
	const session = createSession("s", { tools: [rm] }, options);
	const stream = execute(session, { role: "user", content: "Go." });
	const started: unknown[] = [];
	const ended: unknown[] = [];
	for await (const event of stream) {
		if (event.type === "toolcall_start") started.push(event.id);
		if (event.type === "toolcall_end") ended.push(event.toolCall.id);
	}
	const { pendingToolCalls = [] } = await stream.result();
	expect(new Set(started).size).toBe(3);
	expect(started).toEqual(pendingToolCalls.map(({ id }) => id));
	expect(ended).toEqual(started);
	await host.close();
});
