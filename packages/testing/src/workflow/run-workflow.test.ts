import { workflow } from "holdfast/workflow";
import { expect, test } from "vitest";
import { runWorkflow } from "./run-workflow.ts";

const days = 24 * 60 * 60_000;

test("a test skips days of sleep, sends events and approves", async () => {
	const seen: unknown[] = [];
	const trial = workflow({ name: "trial" }, async (flow, { user }: { user: string }) => {
		await flow.sleep("30 days");
		const reply = await flow.event<string>("reply", { timeout: "7 days" });
		const none = await flow.event("never", { timeout: "2 days" });
		return { user, reply, none, extended: await flow.approve("extend", { user }) };
	});
	const result = await runWorkflow(
		trial,
		{ user: "Ada" },
		{
			events: [{ event: "reply", payload: "Yes!" }],
			answer: (call) => {
				seen.push(call.arguments);
				return true;
			},
		},
	);
	expect(result).toMatchObject({
		outcome: "completed",
		output: { user: "Ada", reply: "Yes!", extended: true },
	});
	expect(result.elapsedMs).toBe(32 * days);
	expect(seen).toEqual([{ name: "extend", details: { user: "Ada" } }]);
});

test("a worker dies before and after every append, and the workflow ends in the same way", async () => {
	const order = workflow({ name: "order" }, async (flow) => {
		const [a, b] = await Promise.all([
			flow.step("a", () => 1, { retryPolicy: "idempotent" }),
			flow.step("b", () => 2, { retryPolicy: "idempotent", retries: 1, retryDelay: "1 hour" }),
		]);
		await flow.sleep("1 day");
		const more = (await flow.event<number>("more", { timeout: "1 day" })) ?? 0;
		return (await flow.approve("pay")) ? a + b + more : 0;
	});
	const given = { events: [{ event: "more", payload: 3 }], answer: () => true };
	const { output, appends } = await runWorkflow(order, undefined, given);
	expect(output).toBe(6);
	expect(appends).toBeGreaterThan(5);
	for (let at = 1; at <= appends; at++)
		for (const when of ["before", "after"] as const)
			expect(await runWorkflow(order, undefined, { ...given, crash: { at, when } })).toMatchObject({
				output: 6,
			});
});

test("a step that hangs times out, and missing events are reported", async () => {
	const hangs = workflow({ name: "hangs" }, async (flow) =>
		flow.step("hang", () => new Promise<never>(() => {}), { timeout: "1 hour" }).catch((error) => error.code),
	);
	expect(await runWorkflow(hangs, undefined)).toMatchObject({ output: "step_timeout", elapsedMs: 3_600_000 });
	const waits = workflow({ name: "waits" }, async (flow) => flow.ask("Where to?"));
	await expect(runWorkflow(waits, undefined)).rejects.toMatchObject({
		code: "workflow_waits",
		message: expect.stringMatching(/Where to/),
	});
});
