import { workflow } from "holdfast/workflow";
import { expect, test } from "vitest";
import { scriptedModel } from "../model/index.ts";
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

test("models, children, logs, state and further rounds run in a test, with children's waits skipped too", async () => {
	const remind = workflow({ name: "remind" }, async (flow, { of }: { of: string }) => {
		await flow.sleep("10 days");
		return (await flow.approve(`remind of ${of}`)) ? `reminded of ${of}` : "not reminded";
	});
	const trial = workflow(
		{ name: "trial", workflows: [remind] },
		async (flow, round: number): Promise<unknown> => {
			const said = await flow.model(scriptedModel(["Welcome."]), "Greet.");
			await flow.log("round", { round });
			await flow.state({ round });
			const spawned = flow.spawn(remind, { of: said });
			const event = await flow.event<string>("reply", { timeout: "2 days" });
			const reminded = await spawned.result();
			return round === 1 ? flow.continueAsNew(2) : { said, event, reminded };
		},
	);
	const options = { events: [{ event: "reply", payload: "Yes!" }], answer: () => true };
	const expected = { said: "Welcome.", event: undefined, reminded: "reminded of Welcome." };
	const { output, appends, elapsedMs } = await runWorkflow(trial, 1, options);
	expect(output).toEqual(JSON.parse(JSON.stringify(expected)));
	expect(elapsedMs).toBeGreaterThanOrEqual(20 * days);
	for (const at of [3, 7, 11, 15, 19, 23].filter((each) => each <= appends))
		expect(await runWorkflow(trial, 1, { ...options, crash: { at, when: "after" } })).toMatchObject({
			output,
		});
});
