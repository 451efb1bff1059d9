import assert from "node:assert";
import { join } from "node:path";
import { test } from "node:test";
import { loadProject, type ThreadState } from "@holdfast/threads";
import add from "../agents/tools/add.ts";

test("the project loads, with all its names right", async () => {
	const project = await loadProject(join(import.meta.dirname, ".."));
	assert.deepEqual([...project.agents.keys()], ["assistant"]);
});

test("the tool adds numbers", async () => {
	const result = await add.execute({} as ThreadState, { numbers: [2, 3] });
	assert.equal(result.result, "5");
});
