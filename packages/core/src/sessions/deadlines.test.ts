import { join } from "node:path";
import { manualTime, type ScriptedModel, scriptedModel } from "@holdfast/testing";
import { HoldfastError } from "@holdfast/upp";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { lines } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { sqliteHost } from "../sqlite.ts";
import { watchDeadline } from "./deadlines.ts";

const locate = { name: "locate", description: "Where.", parameters: { type: "object" } } as const;
const asks = { toolCalls: [{ name: "locate", id: "a" }] };

function make(time: ReturnType<typeof manualTime>, model: ScriptedModel, more: Partial<AgentOptions> = {}) {
	const { ports } = time;
	return new Agent({
		model,
		tools: [locate],
		host: memoryHost(),
		ports,
		remoteToolTimeoutMs: 5_000,
		...more,
	});
}

test("a call that is not answered in time has failed, and the run continues by itself [API-052, API-053]", async () => {
	const time = manualTime();
	const model = scriptedModel([asks, "done"]);
	const session = make(time, model).session("s");
	const { pending } = await (await session.send("go")).result();
	expect(pending).toMatchObject([{ deadline: 1_005_000 }]);
	time.pass(4_999);
	expect(await session.pending()).toHaveLength(1);
	time.pass(1);
	await expect.poll(async () => (await session.state()).messages.at(-1)).toMatchObject({ text: "done" });
	expect(lines(model.requests[1]?.messages ?? []).at(-1)).toContain(
		'No result of "locate" arrived within 5000 ms.',
	);
	await expect(session.answer([{ toolCallId: "a", output: 1 }])).rejects.toMatchObject({
		code: "tool_result_expired",
	});
});

test("a call whose end the store failed to record fails as soon as it can be recorded [API-053]", async () => {
	const time = manualTime();
	const journal = memoryJournal();
	let refusals = 0;
	const acquire = journal.acquire.bind(journal);
	journal.acquire = (key, options) => {
		if (refusals-- > 0) throw new HoldfastError("journal_failed", "Not now.", { retryable: true });
		return acquire(key, options);
	};
	const session = make(time, scriptedModel([asks, "done"]), { host: journalHost(journal) }).session("s");
	await (await session.send("go")).result();
	refusals = 2;
	time.pass(5_000);
	await expect.poll(() => refusals).toBe(1);
	time.pass(1_000);
	await expect.poll(() => refusals).toBe(0);
	expect(await session.pending()).toHaveLength(1);
	time.pass(1_000);
	await expect.poll(async () => (await session.state()).messages.at(-1)).toMatchObject({ text: "done" });
});

test("a result that arrives after its deadline is rejected, even if the expiry was not noticed yet [API-054]", async () => {
	const time = manualTime();
	const stuck = { ...time.ports, timers: { after: () => () => {} } };
	const session = make(time, scriptedModel([asks, "done"]), { ports: stuck }).session("s");
	await (await session.send("go")).result();
	time.pass(5_000);
	await expect(session.answer([{ toolCallId: "a", output: 1 }])).rejects.toMatchObject({
		code: "tool_result_expired",
	});
});

test("a tool's own limit takes precedence, and approvals never expire [API-052]", async () => {
	const time = manualTime();
	const tools = [
		{ ...locate, timeoutMs: 100 },
		{ ...locate, name: "write", execute: () => "written", needsApproval: true },
	];
	const model = scriptedModel([{ toolCalls: [...asks.toolCalls, { name: "write", id: "w" }] }, "done"]);
	const session = make(time, model, { tools }).session("s");
	const { pending } = await (await session.send("go")).result();
	expect(pending?.map(({ deadline }) => deadline)).toEqual([1_000_100, undefined]);
	time.pass(100);
	await expect.poll(async () => (await session.pending()).map(({ toolCallId }) => toolCallId)).toEqual(["w"]);
	time.pass(1e9);
	expect(await session.pending()).toHaveLength(1);
});

test("a deadline survives a restart [API-053]", async () => {
	const folder = temporaryFolder();
	const path = join(folder, "j.db");
	const time = manualTime();
	const one = make(time, scriptedModel([asks]), { host: sqliteHost(path) });
	await (await one.session("s").send("go")).result();
	await one.close();
	expect(time.timers.size).toBe(0);
	time.pass(4_000);
	const other = make(time, scriptedModel(["done"]), { host: sqliteHost(path) });
	const session = other.session("s");
	for await (const _ of other.recover()) throw new Error("a run that waits is not left over");
	time.pass(1_000);
	await expect.poll(async () => (await session.state()).messages.at(-1)).toMatchObject({ text: "done" });
	await other.close();
});

test("a deadline beyond a timer's maximum is waited for in parts", () => {
	const weeks = 60 * 24 * 60 * 60 * 1_000;
	const waits: number[] = [];
	const later = { callOff() {}, set: (...given: unknown[]) => void waits.push(given[3] as number) };
	for (const now of [0, weeks - 1_000, weeks + 1_000])
		watchDeadline(weeks, {
			later,
			clock: { now: () => now },
			purpose: "deadline",
			expire: async () => {},
			isUsable: () => true,
		} as never);
	expect(waits).toEqual([2 ** 31 - 1, 1_000, 0]);
});
