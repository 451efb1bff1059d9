// A long result of a tool: the thread keeps all of it, and the model sees its beginning and its end.
import { expect, test } from "vitest";
import { defineTool } from "../define/index.ts";
import { oneAgent, said, scripted, start } from "./threads.fixture.ts";

test("the model sees the beginning and the end of a long result, and the thread keeps all of it", async () => {
	const result = `first${"x".repeat(200_000)}last`;
	const read = defineTool({ description: "x", execute: async () => ({ status: "success", result }) });
	const provider = scripted([{ calls: [{ name: "read", args: {} }] }, "Read."]);
	const { threads } = start(oneAgent(provider, { tools: { read } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Go" });
	await threads.quiet();
	const { content } = provider.requests[1]?.messages.at(-1) ?? {};
	expect(content).toMatch(
		/^first.{79995}\n\[cut: characters 80,000 to 180,009 of 200,009 .*\]\n.{19996}last$/,
	);
	expect((await said(threads, threadId))[2]).toBe(`tool: ${result}`);
	await threads.close();
});
