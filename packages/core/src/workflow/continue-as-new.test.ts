// flow.continueAsNew(): the code begins again in the same run.
import { expect, test } from "vitest";
import { z } from "zod";
import { DyingStore } from "../../../../test/shared/dying-host.fixture.ts";
import { type Host, memoryHost } from "../host/index.ts";
import { outputsOfAll } from "./crashes.fixture.ts";
import { type Workflow, workflow } from "./workflow.ts";

const loop = (on: Host, done: number[] = []): Workflow<{ readonly n: number }> =>
	workflow({ name: "loop", host: on, input: z.object({ n: z.number() }) }, async (flow, { n }) => {
		const key = await flow.step(
			"work",
			({ idempotencyKey }) => {
				done.push(n);
				return idempotencyKey;
			},
			{ retryPolicy: "idempotent" },
		);
		await flow.state({ n, key });
		const added = n === 0 ? 1 : await flow.event<number>("add");
		if (n < 3) return flow.continueAsNew({ n: n + (added ?? 0) });
		return { n, key };
	}) as Workflow<{ readonly n: number }>;

test("begins again with an empty record; run, state and events stay", async () => {
	const store = new DyingStore();
	const made = loop(store.worker().host);
	const session = made.session("s");
	const run = await session.send({ n: 0 });
	await session.signal("add", 1);
	await session.signal("add", 1);
	await session.signal("add", 0);
	const { output, runId } = await run.result();
	expect(output).toEqual({ n: 3, key: `${run.runId}.3~work#1` });
	expect(runId).toBe(run.runId);
	expect(await session.state()).toEqual({ n: 3, key: `${run.runId}.3~work#1` });
	const starts = store.journal.read("s").filter(({ fact }) => fact.kind === "run.started");
	expect(starts).toHaveLength(1);
});

test("survives the death of the worker at any append", async () => {
	const outputs = await outputsOfAll(
		(on) =>
			workflow({ name: "loop", host: on }, async (flow, input: number | null) => {
				const n = input ?? 0;
				await flow.step("work", () => n, { retryPolicy: "idempotent" });
				const [a] = await Promise.all([
					flow.step("more", () => n * 2, { retryPolicy: "pure" }),
					flow.sleep(1),
				]);
				return n < 2 ? flow.continueAsNew(n + 1) : a;
			}) as Workflow<never>,
	);
	expect(outputs.length).toBeGreaterThan(10);
	for (const output of outputs) expect(output).toBe(4);
});

test("cancels open calls once, whichever append the worker dies at", async () => {
	const outputs = await outputsOfAll(
		(on) =>
			workflow({ name: "left", host: on }, async (flow, input: number | null) => {
				const n = input ?? 0;
				await Promise.race([flow.approve(`open ${n}`), flow.sleep(1)]);
				return n < 2 ? flow.continueAsNew(n + 1) : n;
			}) as Workflow<never>,
	);
	expect(outputs.length).toBeGreaterThan(10);
	for (const output of outputs) expect(output).toBe(2);
});

test("keeps the log and the state that the code has not awaited", async () => {
	const store = new DyingStore();
	const made = workflow({ name: "made", host: store.worker().host }, async (flow, n: number) => {
		if (n === 2) return "done";
		void flow.log(`round ${n}`);
		void flow.state({ n });
		return flow.continueAsNew(n + 1);
	});
	const session = made.session("s");
	expect((await (await session.send(1)).result()).output).toBe("done");
	expect(await session.state()).toEqual({ n: 1 });
	const topics = store.journal.read("s").flatMap(({ fact }) => (fact.kind === "note" ? [fact.topic] : []));
	expect(topics).toEqual(["workflow-log", "workflow-state", "workflow-continued"]);
});

test("checks the input, and is not caught by the code", async () => {
	const checked = workflow(
		{ name: "checked", host: memoryHost(), input: z.object({ n: z.number() }) },
		async (flow, { n }) => {
			if (n === 2) return "done";
			const code = await flow.continueAsNew({ n: "two" }).catch((error) => error.code);
			try {
				return await flow.continueAsNew({ n: 2 });
			} catch {
				return "caught";
			} finally {
				await flow.step(`never ${code}`, () => 1);
			}
		},
	);
	expect((await (await checked.session("s").send({ n: 1 })).result()).output).toBe("done");
});
