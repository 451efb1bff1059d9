// Child workflows whose code no longer matches their record, or is stuck. Their parents are parked with them.
import { manualTime } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { DyingStore } from "../../../../test/shared/dying-host.fixture.ts";
import type { Host } from "../host/index.ts";
import type { Flow } from "./flow.ts";
import { type Workflow, workflow } from "./workflow.ts";

type Code = (flow: Flow) => unknown;

const reserving: Code = async (flow) => {
	await flow.step("reserve", () => 1, { retryPolicy: "idempotent" });
	return flow.approve("book");
};
const checking: Code = async (flow) => {
	await flow.step("check", () => 1, { retryPolicy: "idempotent" });
	return reserving(flow);
};

/** A parent with a child of this code, a second child that waits for an approval, and a step of its own. */
function parentOf(host: Host, code: Code): Workflow {
	const child = workflow({ name: "child", host }, code);
	const sibling = workflow({ name: "sibling", host }, (flow) => flow.approve("pay"));
	return workflow({ name: "parent", host, workflows: [child, sibling] }, async (flow) => {
		const beside = flow.spawn(sibling, undefined);
		const booked = await flow.child(child, undefined);
		return [booked, await beside.result()];
	}) as Workflow;
}

/** A parent of `parentOf` with a parent of its own. */
function grandparentOf(host: Host, code: Code): Workflow {
	const parent = parentOf(host, code);
	return workflow({ name: "grandparent", host, workflows: [parent] }, (flow) =>
		flow.child(parent, undefined),
	) as Workflow;
}

async function approveAll({ session }: ReturnType<Workflow["session"]>): Promise<void> {
	const calls = await session.pending();
	const answers = calls.map(({ toolCallId }) => ({ toolCallId, approved: true }) as const);
	(await session.answer(answers)).detach();
}

describe.each([
	["a parent", parentOf],
	["a grandparent", grandparentOf],
])("%s of a child that is parked", (_, made) => {
	/** Starts the workflow and leaves it waiting. Returns a function that deploys code of the child in the next process. */
	async function leftOpen(): Promise<{ store: DyingStore; deploy: (code: Code) => Workflow }> {
		const store = new DyingStore();
		const first = store.worker();
		const session = made(first.host, reserving).session("s");
		await session.send(undefined);
		await expect.poll(async () => (await session.session.pending()).length).toBe(2);
		await expect.poll(() => store.journal.read("s").at(-1)?.fact.kind).toBe("waiting");
		first.die();
		return { store, deploy: (code) => made(store.worker().host, code) };
	}

	const endings = (store: DyingStore): readonly string[] =>
		store.journal
			.list({})
			.flatMap(({ key }) => store.journal.read(key))
			.flatMap(({ fact }) => (fact.kind === "run.ended" ? [fact.outcome] : []));

	test("is parked with the child's error, as often as wrong code is released; matching code continues both", async () => {
		const { store, deploy } = await leftOpen();
		const wrong = deploy(checking);
		await approveAll(wrong.session("s"));
		await expect.poll(() => store.journal.read("s").at(-1)?.fact.kind).toBe("run.parked");
		await wrong.close();
		const stillWrong = deploy(checking);
		for (const _ of [1, 2])
			expect(await (await stillWrong.session("s").release())?.result()).toMatchObject({
				outcome: "suspended",
				error: {
					code: "code_diverged",
					message: expect.stringMatching(/"child".*"reserve#1" was expected, and the step "check#1" came/),
				},
			});
		await expect(stillWrong.session("s").session.resume()).rejects.toMatchObject({ code: "run_parked" });
		expect(endings(store)).not.toContain("killed");
		await stillWrong.close();
		const right = deploy(reserving);
		expect(await (await right.session("s").release())?.result()).toMatchObject({
			outcome: "completed",
			output: [true, true],
		});
		expect(new Set(endings(store))).toEqual(new Set(["completed"]));
	});

	test("can be stopped; the next recovery ends the child", async () => {
		const { store, deploy } = await leftOpen();
		const wrong = deploy(checking);
		await approveAll(wrong.session("s"));
		await expect.poll(() => store.journal.read("s").at(-1)?.fact.kind).toBe("run.parked");
		expect(await wrong.session("s").stop()).toBe(true);
		await wrong.close();
		const next = deploy(reserving);
		await next.recover();
		await next.recover();
		expect(store.journal.list({ state: "open" })).toEqual([]);
	});

	test("is parked if the child's code is stuck", async () => {
		const { deploy } = await leftOpen();
		const time = manualTime();
		const stuck = deploy(async (flow) => {
			await reserving(flow);
			return new Promise(() => {});
		}).withOptions({ ports: time.ports });
		await approveAll(stuck.session("s"));
		await expect.poll(() => time.timers.size).toBeGreaterThan(0);
		const left = stuck.session("s").session.resume();
		const result = (await left)?.result();
		time.pass(10_000);
		expect(await result).toMatchObject({ outcome: "suspended", error: { code: "workflow_stuck" } });
		await stuck.close();
		const right = deploy(reserving);
		expect((await (await right.session("s").release())?.result())?.output).toEqual([true, true]);
	});
});
