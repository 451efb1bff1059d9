// Two workers of one process over a bare store, which has no leases to keep them apart.
import { setImmediate } from "node:timers/promises";
import { type Script, scriptedModel } from "@holdfast/testing";
import { Agent } from "holdfast";
import { journalHost } from "holdfast/host";
import { expect, test } from "vitest";
import { MemorySessionStore } from "../session-store/memory-session-store.ts";
import { storeJournal } from "./store-journal.ts";

test("a worker that follows a background task leaves it to the one that continues it", async () => {
	const store = new MemorySessionStore();
	const ran: string[] = [];
	function worker(name: string, toParent: Script, toHelper: Script) {
		const asked = scriptedModel(toHelper);
		const helper = new Agent({
			name: "helper",
			description: "Helps.",
			model: asked,
			tools: [
				{
					name: "remove",
					description: "Removes a file.",
					parameters: { type: "object" },
					needsApproval: true,
					async run() {
						// The other worker hears that the task continues.
						for (let turns = 0; turns < 100; turns++) await setImmediate();
						ran.push(name);
						return "removed";
					},
				},
			],
		});
		const journal = storeJournal(store, { workerId: name });
		const host = journalHost(journal, { capabilities: { backgroundSubagents: "durable" } });
		return {
			agent: new Agent({ model: scriptedModel(toParent), subagents: [helper], host }),
			journal,
			asked,
		};
	}
	const call = (name: string, input: Record<string, unknown>) => ({
		toolCalls: [{ name, arguments: input }],
	});
	const work = call("delegate_to_helper", { prompt: "go", run_in_background: true });
	const first = worker("first", [work, "I asked for it."], [call("remove", {})]);
	const second = worker("second", [], ["removed it"]);

	await (await first.agent.session("s").send("go")).result();
	const session = second.agent.session("s");
	await expect.poll(() => session.pending()).toHaveLength(1);
	const [pending] = await session.pending();
	const run = await session.answer([{ toolCallId: pending?.toolCallId ?? "", approved: true }]);
	expect(await run.result()).toMatchObject({ outcome: "completed", text: "removed it" });
	expect(ran).toEqual(["second"]);
	expect(first.asked.requests).toHaveLength(1);
	await first.agent.close();
	await second.agent.close();
});
