// Waits of sub-agents that are answered in another process, while the one that began the work is alive.
import { expect, test } from "vitest";
import { memoryJournal } from "../host/memory-journal.ts";
import type { AnyTool } from "../tools/types.ts";
import { calls, family, helper } from "./delegate.fixture.ts";

const remove: AnyTool = {
	name: "remove",
	description: "Removes a file.",
	parameters: { type: "object" },
	needsApproval: true,
	run: () => "removed",
};

test("work that is queued behind a wait starts in the process that answers", async () => {
	const journal = memoryJournal();
	const process = (at: typeof journal, toParent: string[], toWorker: string[]) => {
		const asks = calls(["remove", {}]);
		const delegate = (prompt: string): [string, Record<string, unknown>] => [
			"delegate_to_worker",
			{ prompt },
		];
		const isFirst = toParent.length === 0;
		const worker = helper("worker", isFirst ? [asks] : toWorker, { tools: [remove] });
		const script = isFirst ? [calls(delegate("one"), delegate("two"))] : toParent;
		return family(script, [worker], { journal: at, hostIs: "durable" }).parent;
	};
	const first = process(journal, [], []);
	const second = process(journal.worker("second"), ["Both are done."], ["one", "two"]);
	expect(await (await first.session("s").send("go")).result()).toMatchObject({ outcome: "waiting" });
	const [call] = await second.session("s").pending();
	const run = await second.session("s").answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
	expect(await run.result()).toMatchObject({ outcome: "completed", text: "Both are done." });
	expect(journal.list({ state: "open" })).toEqual([]);
	await second.close();
	await first.close();
});
