// Work of sub-agents for an ended run: the process that ended the run died before it ended the work.
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import { childStoreKey } from "../host/session-key.ts";
import type { AnyTool } from "../tools/types.ts";
import { calls, eventsOf, family, helper, outputsOf, until } from "./delegate.fixture.ts";

const asks = calls(["delegate_to_helper", { prompt: "work" }]);
const place = childStoreKey("s", "helper", "default");
const hour = 3_600_000;

const payment = (run: () => unknown, needsApproval: boolean): AnyTool => ({
	name: "pay",
	description: "Pays.",
	parameters: { type: "object", properties: {} },
	needsApproval,
	retryPolicy: "idempotent",
	run,
});

/** A process ends the run of "s", and dies before it ends the work of its sub-agent. */
async function killedInPart(journal: MemoryJournal): Promise<void> {
	const taken = await journal.worker("kills").acquire("s", { mode: "seize" });
	if (!taken.ok) throw new Error("a session can be seized");
	const { lease } = taken;
	await lease.append({
		at: 1,
		runId: lease.openRunId ?? "",
		facts: [{ kind: "run.ended", outcome: "killed" }],
	});
	await lease.release();
}

/** A run that waits because its sub-agent requires approval for a payment. */
async function waitingFor(journal: MemoryJournal): Promise<void> {
	const child = helper("helper", [calls(["pay", {}])], { tools: [payment(() => "", true)] });
	const { parent } = family([asks, "never"], [child], { journal });
	expect(await (await parent.session("s").send("go")).result()).toMatchObject({ outcome: "waiting" });
	await parent.close();
}

describe("a sub-agent that waits for an ended run", () => {
	test.each(["in-process", "durable", "blocking"] as const)(
		"ends with the next recovery, however long it has waited (%s)",
		async (hostIs) => {
			let now = Date.now();
			const clock = { now: () => now, monotonic: () => now };
			const journal = memoryJournal();
			await waitingFor(journal.worker("first"));
			const { parent } = family([], [helper("helper", [])], {
				journal: journal.worker("second"),
				hostIs,
				ports: { clock },
			});
			now += hour;
			await parent.recover();
			expect(journal.list({ state: "waiting" })).toHaveLength(2);
			now += hour;
			await killedInPart(journal);
			await parent.recover();
			expect(journal.list({ state: "open" })).toEqual([]);
			await parent.close();
		},
	);

	test("ends with the work of a process that starts", async () => {
		const journal = memoryJournal();
		await waitingFor(journal.worker("first"));
		await killedInPart(journal);
		const { parent } = family([], [helper("helper", [])], { journal: journal.worker("second") });
		for await (const _ of parent.work({ until: "done" })) throw new Error("nothing is to be continued");
		expect(journal.list({ state: "open" })).toEqual([]);
		await parent.close();
	});

	test("does not delay new work from the next run", async () => {
		const journal = memoryJournal();
		await waitingFor(journal.worker("first"));
		await killedInPart(journal);
		let paid = 0;
		const tools = [payment(() => paid++, true)];
		const { parent } = family([asks, "done"], [helper("helper", ["said"], { tools })], {
			journal: journal.worker("second"),
		});
		const events = await eventsOf(await parent.session("s").send("again"));
		expect(outputsOf(events)).toEqual([{ status: "completed", text: "said" }]);
		expect(paid).toBe(0);
		expect(journal.list({ state: "open" })).toEqual([]);
		await parent.close();
	});
});

describe("a sub-agent that was working for an ended run", () => {
	test("does not continue it when the next run gives it work", async () => {
		const journal = memoryJournal();
		const dies = journal.worker("dies");
		const begun = Promise.withResolvers<void>();
		const never = new Promise(() => {});
		const stuck = payment(() => {
			begun.resolve();
			return never;
		}, false);
		const first = family([asks, "never"], [helper("helper", [calls(["pay", {}])], { tools: [stuck] })], {
			journal: dies,
		});
		(await first.parent.session("s").send("go")).detach();
		await begun.promise;
		dies.die();
		await killedInPart(journal);
		let paid = 0;
		const model = scriptedModel(["said"]);
		const child = helper("helper", [], { model, tools: [payment(() => paid++, false)] });
		const { parent } = family([asks, "done"], [child], { journal: journal.worker("second") });
		const events = await eventsOf(await parent.session("s").send("again"));
		expect(outputsOf(events)).toEqual([{ status: "completed", text: "said" }]);
		expect(paid).toBe(0);
		expect(journal.head(place)).not.toHaveProperty("openRunId");
		await parent.close();
	});

	test("ends together with its own sub-agents' work", async () => {
		const journal = memoryJournal();
		const dies = journal.worker("dies");
		const begun = Promise.withResolvers<void>();
		const stuck = payment(() => {
			begun.resolve();
			return new Promise(() => {});
		}, false);
		const aide = helper("aide", [calls(["pay", {}])], { tools: [stuck] });
		const asksTwice = calls(["delegate_to_aide", { prompt: "one" }], ["delegate_to_aide", { prompt: "two" }]);
		const middle = helper("helper", [asksTwice], { subagents: [aide] });
		const first = family([asks], [middle], { journal: dies });
		(await first.parent.session("s").send("go")).detach();
		await begun.promise;
		const below = childStoreKey(place, "aide", "default");
		await until(journal, below, async () => (await journal.head(below))?.waiting === 1);
		dies.die();
		await killedInPart(journal);
		const child = helper("helper", ["said"], { subagents: [helper("aide", [])] });
		const { parent } = family([asks, "done"], [child], { journal: journal.worker("second") });
		const events = await eventsOf(await parent.session("s").send("again"));
		expect(outputsOf(events)).toEqual([{ status: "completed", text: "said" }]);
		expect(journal.list({ state: "open" })).toEqual([]);
		expect(journal.head(below)).toMatchObject({ waiting: 0 });
		await parent.close();
	});
});
