import assert from "node:assert";
import { join } from "node:path";
import { test } from "node:test";
import { loadProject, type ThreadState, threads } from "@holdfast/threads";
import { memoryHost } from "holdfast";
import add from "../agents/tools/add.ts";

const project = await loadProject(join(import.meta.dirname, ".."));

test("the project has its agent", () => {
	assert.deepEqual([...project.agents.keys()], ["assistant"]);
});

test("the tool adds numbers", async () => {
	const result = await add.execute({} as ThreadState, { numbers: [2, 3] });
	assert.equal(result.result, "5");
});

test("the assistant answers with its tool", async () => {
	const running = threads({ project, host: memoryHost() });
	const thread = await running.createThread({ agentId: "assistant", message: "What is 2 + 3?" });
	await running.quiet();
	const { messages } = await thread.getMessages();
	assert.equal(messages.at(-1)?.content, "The tool add says: 5");
	await running.close();
});
