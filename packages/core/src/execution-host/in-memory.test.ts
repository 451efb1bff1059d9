import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import { executionHostContract } from "./contract/index.ts";
import { agentOn, drain, handClock } from "./execution-host.fixture.ts";
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
])("a host without %s is refused by name [SES-090]", (field, change) => {
	const complete = createInMemoryExecutionHost();
	const host = { ...complete, store: { ...complete.store, ...change } } as never;
	const made = (): Agent => new Agent({ model: scriptedModel([]), host });
	expect(made).toThrow(TypeError);
	expect(made).toThrow(`\`${field}\``);
});

test.each(["capabilities", "scheduler", "store"])(
	"a host without `%s`, and one with a sessionStore beside it, is refused by name [SES-090]",
	(field) => {
		const complete = createInMemoryExecutionHost();
		const without = { ...complete, [field]: undefined } as never;
		expect(() => new Agent({ model: scriptedModel([]), host: without })).toThrow(`host.${field}`);
		const both = { ...complete, sessionStore: complete.store.sessions } as never;
		expect(() => new Agent({ model: scriptedModel([]), host: both })).toThrow(/host\.sessionStore/);
		expect(() => new Agent({ model: scriptedModel([]), host: complete })).not.toThrow();
	},
);

test("what is scheduled is due at its time, once for each run, until it is settled", async () => {
	const clock = handClock();
	const { scheduler } = createInMemoryExecutionHost({ clock });
	let calls = 0;
	const stop = scheduler.watch(() => calls++);
	await scheduler.enqueueRun("later", { runAfterMs: 500 });
	await scheduler.enqueueRun("now");
	await scheduler.enqueueRun("now", { runAfterMs: 100 });
	stop();
	await scheduler.resumeSession("s", { runId: "told", notificationId: "n", idempotencyKey: "k" });
	expect(calls).toBe(3);
	expect((await scheduler.due()).map(({ runId }) => runId)).toEqual(["now", "told"]);
	expect(await scheduler.due({ limit: 1 })).toHaveLength(1);
	await scheduler.settle("now");
	clock.advance(500);
	expect((await scheduler.due()).map(({ runId }) => runId)).toEqual(["told", "later"]);
});

test("a new agent for each of five turns shows the model what one agent shows it [SES-115]", async () => {
	const script = (seen: unknown[]) => (request: { messages: readonly unknown[] }, call: number) => {
		seen.push(
			JSON.parse(
				JSON.stringify(request.messages, (name, value) =>
					name === "id" || name === "timestamp" ? "" : value,
				),
			),
		);
		return `answer ${call % 5}`;
	};
	const turns = ["one", "two", "three", "four", "five"];
	const oneAgent: unknown[] = [];
	const lasting = agentOn(createInMemoryExecutionHost(), script(oneAgent) as never);
	for (const turn of turns) await drain(await lasting.session("s").send(turn));
	const newAgents: unknown[] = [];
	const host = createInMemoryExecutionHost();
	const reply = script(newAgents);
	for (const [index, turn] of turns.entries()) {
		const one = agentOn(host, ((request: never) => reply(request, index)) as never);
		await drain(await one.session("s").send(turn));
		await one.close();
	}
	expect(newAgents).toEqual(oneAgent);
	expect(newAgents).toHaveLength(5);
});
