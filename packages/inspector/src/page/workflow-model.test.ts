import { memoryHost } from "holdfast";
import { workflow } from "holdfast/workflow";
import { afterEach, expect, test } from "vitest";
import { shownEntry } from "../wire/index.ts";
import { type FlowRun, flowRuns, hasWorkflow } from "./workflow-model.ts";

const closed: (() => Promise<void>)[] = [];
afterEach(async () => {
	for (const close of closed.splice(0)) await close();
});

type Code = Parameters<typeof workflow>[1];

/** Runs a workflow until it ends or waits; returns a function that shows its runs as the page does. */
async function run(code: Code) {
	const host = memoryHost();
	const made = workflow({ name: "made", host }, code);
	closed.push(() => made.close());
	const session = made.session("s");
	const started = await session.send("lamp");
	const shown = async (): Promise<readonly FlowRun[]> => {
		const entries = (await host.journal.read("s")).map((entry) => shownEntry(entry, (value) => value));
		expect(hasWorkflow(entries)).toBe(true);
		return flowRuns(JSON.parse(JSON.stringify(entries)));
	};
	return { session, started, shown };
}

const brief = (runs: readonly FlowRun[]) =>
	runs[0]?.calls.map(({ name, does, state, branches }) =>
		[branches.join(), name, does, state].join(" ").trim(),
	);

test("shows steps, branches, recorded values and their results", async () => {
	const { started, shown } = await run(async (flow) => {
		const [left, right] = [flow.branch("left"), flow.branch("right/2")];
		await Promise.all([left.step("a#1", () => 1), right.step("b", () => ({ two: 2 }))]);
		await flow.step("a#1", () => "again");
		return flow.now();
	});
	await started.result();
	const runs = await shown();
	expect(brief(runs)).toEqual(["left a#1 step done", "right/2 b step done", "a#1 step done", "now now done"]);
	expect(runs[0]).toMatchObject({ outcome: "completed", events: [] });
	expect(runs[0]?.calls.map(({ value }) => value).slice(0, 3)).toEqual([1, { two: 2 }, "again"]);
});

test("shows failed and repeated attempts, the error of the run, and what was undone", async () => {
	const { started, shown } = await run(async (flow) => {
		await flow.step("reserve", () => "R-1", { undo: () => "released" });
		let tries = 0;
		const busy = () => {
			if (tries++ === 0) throw new Error("busy");
			return "ok";
		};
		await flow.step("call", busy, { retryPolicy: "pure", retries: 1, retryDelay: 1 });
		await flow.step("pay", () => Promise.reject(new Error("declined")));
	});
	await started.result();
	const runs = await shown();
	expect(brief(runs)).toEqual([
		...["reserve step done", "call step done", "pay step failed", "undo reserve undo done"],
	]);
	expect(runs[0]?.calls.map(({ attempts }) => attempts)).toEqual([1, 2, 1, 1]);
	expect(runs[0]?.calls[2]?.error?.message).toBe("declined");
	expect(runs[0]?.error?.message).toContain("declined");
});

test("shows what it waits for, events that no call has taken, and approvals", async () => {
	const { session, started, shown } = await run(async (flow) => {
		await flow.event("reply", { timeout: "1 day" });
		await flow.approve("send it");
		return "sent";
	});
	await expect.poll(async () => brief(await shown())).toEqual(["reply event waiting"]);
	expect((await shown())[0]?.calls[0]?.until).toBeGreaterThan(Date.now());
	await session.signal("other", { early: true });
	await expect
		.poll(async () => (await shown())[0]?.events)
		.toMatchObject([{ name: "other", payload: { early: true } }]);
	await session.signal("reply", "yes");
	await expect
		.poll(async () => brief(await shown()))
		.toEqual(["reply event done", "send it approve waiting"]);
	expect((await shown())[0]?.events).toHaveLength(1);
	const [call] = await session.session.pending();
	await session.session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
	expect((await started.result()).outcome).toBe("completed");
	expect(brief(await shown())).toEqual(["reply event done", "send it approve done"]);
});

test("ignores notes that it does not know", () => {
	const note = (seq: number, value: unknown) => ({
		...{ seq, at: seq, runId: "r", kind: "note", body: { topic: "workflow-settled", value } },
	});
	const start = { seq: 1, at: 1, runId: "r", kind: "run.started", body: {} };
	expect(flowRuns([start, note(2, null), note(3, { id: "x#1" }), note(4, { id: 7 })])).toEqual([]);
});
