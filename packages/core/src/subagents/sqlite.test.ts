import { join } from "node:path";
import { type Script, type ScriptedModel, scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { type SqliteHost, sqliteHost } from "../sqlite.ts";
import { calls, eventsOf, helper, outputsOf, remindersOf } from "./delegate.fixture.ts";

const start = (prompt: string): [string, Record<string, unknown>] => [
	"delegate_to_helper",
	{ prompt, run_in_background: true },
];

/** A session file that is deleted after the test; returns a function that opens it. */
function file(): () => SqliteHost {
	const folder = temporaryFolder();
	return () => sqliteHost(join(folder, "sessions.db"));
}

function parentOn(host: SqliteHost, script: Script, child: Agent): { parent: Agent; model: ScriptedModel } {
	const model = scriptedModel(script);
	return { model, parent: new Agent({ namespace: "office", host, model, subagents: [child] }) };
}

test("on a SQLite file the process that got the request does the work, and calls no other", async () => {
	const host = file()();
	const script: Script = ({ messages }, call) => {
		if (call === 0) return calls(start("a"));
		const result = messages.find(({ type }) => type === "tool_result") as unknown as {
			results: [{ result: { task_id: string } }];
		};
		const { task_id } = result.results[0].result;
		return call === 1 ? calls(["background_output", { task_id, block: true }]) : "said";
	};
	const { parent } = parentOn(host, script, helper("helper", ["done"]));
	const events = await eventsOf(await parent.send("go"));
	expect(outputsOf(events)[1]).toMatchObject({ status: "completed", text: "done" });
	await parent.close();
	await host.close();
});

test("tasks that were running when a SQLite file was closed continue, and keep their outputs [SES-065] [SES-117]", async () => {
	const open = file();
	const before = open();
	const never = helper("helper", () => ({ gate: new Promise(() => {}) }));
	const first = parentOn(before, [calls(start("a"), start("b")), "Launched."], never).parent;
	const outputs = outputsOf(await eventsOf(await first.session("s").send("go")));
	await first.close();
	await before.close();
	const after = open();
	const ids = outputs.map((output) => (output as { task_id: string }).task_id);
	const script = [
		calls(...ids.map((task_id): [string, Record<string, unknown>] => ["background_output", { task_id }])),
		"said",
	];
	const child = helper(
		"helper",
		({ messages }) => `re: ${(messages.at(-1) as unknown as { text: string }).text}`,
	);
	const { parent } = parentOn(after, script, child);
	for await (const run of parent.recover()) await run.result();
	await parent.close();
	const emitted = parentOn(after, script, child).parent;
	const events = await eventsOf(await emitted.session("s").send("what came of it?"));
	expect(remindersOf(events)).toEqual([expect.stringContaining(ids[1] as string)]);
	expect(outputsOf(events)).toEqual([
		{ task_id: ids[0], subagent: "helper", status: "completed", text: "re: a" },
		{ task_id: ids[1], subagent: "helper", status: "completed", text: "re: b" },
	]);
	await emitted.close();
	await after.close();
});
