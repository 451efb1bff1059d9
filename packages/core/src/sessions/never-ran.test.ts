// A call whose start a process committed but whose function it never called, because it was closed at that moment.
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import type { AnyTool } from "../tools/types.ts";

const call = { toolCalls: [{ name: "pay", id: "c", arguments: { euros: 1 } }] };

/** A session that was left in the way of `how`, right after the start of its call was committed. */
async function left(how: "suspended" | "lost", ran: unknown[]) {
	const journal = memoryJournal();
	const acquire = journal.acquire.bind(journal);
	const pay = anyTool("pay", (input) => void ran.push(["first", input]));
	const agent = new Agent({ model: scriptedModel([call]), tools: [pay], host: journalHost(journal) });
	let leave = async (): Promise<void> => {};
	journal.acquire = async (key, options) => {
		const acquired = await acquire(key, options);
		if (!acquired.ok) return acquired;
		const append = acquired.lease.append.bind(acquired.lease);
		acquired.lease.append = async (batch) => {
			const saysSo = batch.facts.some((fact) => fact.kind === "note" && fact.topic === "suspended");
			if (how === "lost" && saysSo) throw new Error("The store is gone.");
			const appended = await append(batch);
			if (batch.facts.some(({ kind }) => kind === "tool.started")) await leave();
			return appended;
		};
		return acquired;
	};
	const run = await agent.session("s").send("go");
	leave = async () => {
		leave = async () => {};
		run.suspend();
	};
	expect(await run.result()).toMatchObject({ outcome: "suspended" });
	journal.acquire = acquire;
	await agent.close();
	return journal;
}

function resumed(journal: Awaited<ReturnType<typeof left>>, ran: unknown[], options: Partial<AnyTool> = {}) {
	const pay = anyTool("pay", (input) => void ran.push(["second", input]), options);
	const model = scriptedModel(["done"]);
	const agent = new Agent({ model, tools: [pay], host: journalHost(journal.worker("second")) });
	return { agent, model, session: agent.session("s") };
}

describe("a call that was recorded as started but never ran", () => {
	test("runs once when its session is resumed, regardless of its retry policy", async () => {
		const ran: unknown[] = [];
		const journal = await left("suspended", ran);
		const { agent, session, model } = resumed(journal, ran);
		expect(await (await session.resume())?.result()).toMatchObject({ outcome: "completed" });
		expect(ran).toEqual([["second", { euros: 1 }]]);
		expect(JSON.stringify(model.requests)).not.toContain("unknown");
		const keys = journal
			.read("s")
			.flatMap(({ fact }) => ("idempotencyKey" in fact ? fact.idempotencyKey : []));
		expect(new Set(keys).size).toBe(1);
		await agent.close();
	});

	test("runs only with an input that the current schema accepts", async () => {
		const ran: unknown[] = [];
		const journal = await left("suspended", ran);
		const parameters = { type: "object", required: ["to"], properties: { to: { type: "string" } } };
		const { agent, session, model } = resumed(journal, ran, { parameters });
		await (await session.resume())?.result();
		expect(ran).toEqual([]);
		expect(JSON.stringify(model.requests)).toContain("The call was not run.");
		await agent.close();
	});

	test("requires the approval that is now needed, and is denied as a call that never ran", async () => {
		const ran: unknown[] = [];
		const journal = await left("suspended", ran);
		const { agent, session, model } = resumed(journal, ran, { needsApproval: true });
		expect(await (await session.resume())?.result()).toMatchObject({ outcome: "waiting" });
		await (await session.answer([{ toolCallId: "c", approved: false }])).result();
		expect(ran).toEqual([]);
		expect(JSON.stringify(model.requests)).not.toContain("may or may not have had");
		await agent.close();
	});

	test("has no unknown outcome if its session is stopped", async () => {
		const ran: unknown[] = [];
		const journal = await left("suspended", ran);
		const { agent, session } = resumed(journal, ran);
		await session.kill();
		const { messages } = await agent.session("s").state();
		expect(JSON.stringify(messages)).not.toContain("may or may not");
		await agent.close();
	});

	test("has an unknown outcome if its process could not record it", async () => {
		const ran: unknown[] = [];
		const journal = await left("lost", ran);
		const { agent, session, model } = resumed(journal, ran);
		await (await session.resume())?.result();
		expect(ran).toEqual([]);
		expect(JSON.stringify(model.requests)).toContain("The outcome of this call is unknown");
		await agent.close();
	});
});
