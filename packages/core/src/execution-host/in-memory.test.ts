import { executionHostContract, scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { handClock } from "./execution-host.fixture.ts";
import { createInMemoryExecutionHost } from "./in-memory.ts";

const make = () => {
	const clock = handClock();
	const host = createInMemoryExecutionHost({ clock });
	return { host: () => host, advance: clock.advance, end() {} };
};

for (const { name, run } of executionHostContract({ name: "memory", make })) test(name, run);

test.each([
	["host.store.runs", { runs: undefined }],
	["host.store.checkpoints", { checkpoints: undefined }],
	["host.store.events", { events: undefined }],
	["host.store.notifications", { notifications: undefined }],
	["host.store.sessions", { sessions: undefined }],
	["host.store.transaction", { transaction: undefined }],
	["host.store.runs.claim", { runs: { create() {} } }],
])("a host without %s is rejected by name [SES-090]", (field, change) => {
	const complete = createInMemoryExecutionHost();
	const host = { ...complete, store: { ...complete.store, ...change } } as never;
	const made = (): Agent => new Agent({ model: scriptedModel([]), host });
	expect(made).toThrow(TypeError);
	expect(made).toThrow(`\`${field}\``);
});

test.each(["capabilities", "scheduler", "store"])(
	"a host without `%s`, and one with an additional sessionStore, is rejected by name [SES-090]",
	(field) => {
		const complete = createInMemoryExecutionHost();
		const without = { ...complete, [field]: undefined } as never;
		expect(() => new Agent({ model: scriptedModel([]), host: without })).toThrow(`host.${field}`);
		const both = { ...complete, sessionStore: complete.store.sessions } as never;
		expect(() => new Agent({ model: scriptedModel([]), host: both })).toThrow(/host\.sessionStore/);
		expect(() => new Agent({ model: scriptedModel([]), host: complete })).not.toThrow();
	},
);

test("a scheduled entry is due at its time, once per run, until it is settled", async () => {
	const clock = handClock();
	const { scheduler } = createInMemoryExecutionHost({ clock });
	let calls = 0;
	const stop = scheduler.watch(() => calls++);
	await scheduler.enqueueRun("later", { runAfterMs: 500 });
	await scheduler.enqueueRun("now");
	await scheduler.enqueueRun("now", { runAfterMs: 100 });
	stop();
	await scheduler.resumeSession("s", { runId: "reminder", notificationId: "n", idempotencyKey: "k" });
	expect(calls).toBe(3);
	expect((await scheduler.due()).map(({ runId }) => runId)).toEqual(["now", "reminder"]);
	expect(await scheduler.due({ limit: 1 })).toHaveLength(1);
	await scheduler.settle("now");
	clock.advance(500);
	expect((await scheduler.due()).map(({ runId }) => runId)).toEqual(["reminder", "later"]);
});
