import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { memoryHost } from "../host/host.ts";

test("sessions that begin at once do not go on in lockstep: each goes as far as it can before the next begins", async () => {
	const asked: string[] = [];
	const model = scriptedModel(({ messages }) => {
		const { text } = messages[0] as unknown as { text: string };
		asked.push(text);
		return messages.length === 1 ? { toolCalls: [{ name: "look", arguments: {} }] } : { text: "done" };
	});
	const agent = new Agent({ model, tools: [anyTool("look", () => "seen")], host: memoryHost() });
	const keys = ["one", "two", "three"];
	await Promise.all(keys.map(async (key) => (await agent.session(key).send(key)).result()));
	expect(asked).toEqual(["one", "one", "two", "two", "three", "three"]);
	await agent.close();
});
