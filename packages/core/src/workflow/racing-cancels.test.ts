// A child that is cancelled while a person answers one of its calls.
import { expect, test } from "vitest";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { workflow } from "./workflow.ts";

test("a cancelled child has one result if one of its calls is answered while it is being ended", async () => {
	const journal = memoryJournal();

	const [ending, reached, cancels] = [gate(), gate(), gate()];
	let isGated = false;
	const inbox = journal.inbox.bind(journal);
	const slowInbox = async (key: string) => {
		if (key !== "s" && isGated) {
			isGated = false;
			reached.resolve();
			await ending.promise;
		}
		return inbox(key);
	};
	const host = journalHost({ ...journal, inbox: slowInbox });
	const child = workflow({ name: "child", host }, async (flow) => {
		await flow.approve("first");
		return flow.approve("second");
	});
	const parent = workflow({ name: "parent", host, workflows: [child] }, async (flow) => {
		const spawned = flow.spawn(child, null);
		// The round of calls stays open.
		const rest = flow.branch("rest").approve("rest");
		await flow.step("wait", () => cancels.promise);
		await spawned.cancel();
		await rest;
		return spawned.result().catch((error: { readonly code: string }) => error.code);
	});
	const session = parent.session("s");
	const { run } = await session.send(undefined);
	void run.result();
	const callOf = async (name: string) =>
		(await session.session.pending()).find((call) => (call.arguments as { name: string }).name === name);
	await expect.poll(() => callOf("first")).toBeDefined();
	const { toolCallId = "" } = (await callOf("first")) ?? {};
	isGated = true;
	cancels.resolve();
	await reached.promise;
	await session.session.answer([{ toolCallId, approved: true }]);
	ending.resolve();
	const results = (): readonly string[] =>
		journal.read("s").flatMap(({ fact }) => (fact.kind === "tool.settled" ? [fact.callId] : []));
	await expect.poll(results).toHaveLength(1);
	const rest = (await callOf("rest"))?.toolCallId ?? "";
	const last = await session.session.answer([{ toolCallId: rest, approved: true }]);
	expect(await last.result()).toMatchObject({ outcome: "completed", output: "tool_call_failed" });
	expect(new Set(results()).size).toBe(2);
	expect(results()).toHaveLength(2);
	await parent.close();
});

function gate(): PromiseWithResolvers<void> {
	return Promise.withResolvers();
}
