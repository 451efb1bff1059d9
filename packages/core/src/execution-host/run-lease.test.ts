import { expect, test } from "vitest";
import {
	agentOn,
	allOf,
	drain,
	handClock,
	otherProcess,
	reminder,
	settled,
} from "./execution-host.fixture.ts";
import { createInMemoryExecutionHost } from "./in-memory.ts";

function gate(): { readonly opened: Promise<void>; open(): void } {
	let open!: () => void;
	const opened = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { opened, open };
}

test("a run that lasts three leases is kept by renewal, and no second worker gets it [SES-100]", async () => {
	const clock = handClock();
	const host = createInMemoryExecutionHost({ clock });
	const answer = gate();
	const one = agentOn(host, [{ gate: answer.opened, text: "Done." }], {
		ports: { clock, timers: clock.timers() },
	});
	const run = await one.session("s").send("long work");
	void run.result();
	const other = agentOn(otherProcess(host), []);
	for (let part = 0; part < 12; part++) {
		clock.advance(10_000);
		await settled();
		expect(await other.resume(run.runId)).toBeNull();
		expect(await host.store.runs.claim(run.runId)).toEqual({ ok: false, reason: "leased" });
	}
	answer.open();
	expect((await run.result()).text).toBe("Done.");
	expect(await host.store.runs.get(run.runId)).toMatchObject({ status: "completed" });
});

test("a worker that was paused while another took over its run commits nothing else and reports lease_lost [SES-101]", async () => {
	const clock = handClock();
	const host = createInMemoryExecutionHost({ clock });
	const timers = clock.timers();
	const work = gate();
	let signal: AbortSignal | undefined;
	const slow = {
		name: "slow",
		description: "Works on.",
		parameters: { type: "object" as const, properties: {} },
		retryPolicy: "pure" as const,
		run: async (_: unknown, context?: { signal: AbortSignal }) => {
			signal ??= context?.signal;
			await work.opened;
			return "late";
		},
	};
	const script = [{ toolCalls: [{ name: "slow" }] }, "From the first."];
	const first = agentOn(otherProcess(host), script, { tools: [slow], ports: { clock, timers } });
	const run = await first.session("s").send("go");
	const emitted = drain(run);
	await settled();
	timers.stopped = true;
	clock.advance(30_001);
	const quick = { ...slow, run: () => "from the second" };
	const second = agentOn(otherProcess(host), ["Done."], { tools: [quick] });
	const taken = await second.resume(run.runId);
	expect((await taken?.result())?.text).toBe("Done.");
	const before = [
		await host.store.checkpoints.list(run.runId),
		await allOf(host.store.events.read(run.runId)),
		await host.store.runs.get(run.runId),
		(await second.session("s").state()).messages.length,
	];
	timers.stopped = false;
	work.open();
	expect((await emitted).at(-1)).toMatchObject({ type: "turn-error", code: "lease_lost" });
	expect(signal?.aborted).toBe(true);
	expect([
		await host.store.checkpoints.list(run.runId),
		await allOf(host.store.events.read(run.runId)),
		await host.store.runs.get(run.runId),
		(await second.session("s").state()).messages.length,
	]).toEqual(before);
});

test("the signal of a worker whose run was taken over aborts at its next lease check", async () => {
	const clock = handClock();
	const host = createInMemoryExecutionHost({ clock });
	const timers = clock.timers();
	let signal: AbortSignal | undefined;
	const first = agentOn(
		otherProcess(host),
		(request) => {
			signal = request.signal;
			return { gate: new Promise(() => {}), text: "never" };
		},
		{ ports: { clock, timers } },
	);
	const run = await first.session("s").send("go");
	const result = run.result();
	await settled();
	timers.stopped = true;
	clock.advance(30_001);
	await (await agentOn(otherProcess(host), ["Done."]).resume(run.runId))?.result();
	expect(signal?.aborted).toBe(false);
	timers.stopped = false;
	clock.advance(10_001);
	expect((await result).error?.code).toBe("lease_lost");
	expect(signal?.aborted).toBe(true);
});

test("a notification claimed by a paused worker is not delivered twice when the worker continues [SES-101]", async () => {
	const clock = handClock();
	const host = createInMemoryExecutionHost({ clock });
	await host.store.notifications.enqueue(reminder("a"));
	const slow = otherProcess(host);
	const wake = gate();
	const reached = gate();
	const { commit } = slow.store.sessions;
	slow.store.sessions.commit = async (...given) => {
		reached.open();
		await wake.opened;
		return commit(...given);
	};
	const asleep = agentOn(slow, () => "never", { ports: { clock, timers: clock.timers() } }).resume("run-a");
	await reached.opened;
	clock.advance(30_001);
	const awake = agentOn(otherProcess(host), () => "Noted.");
	expect((await (await awake.resume("run-a"))?.result())?.text).toBe("Noted.");
	wake.open();
	expect(await asleep).toBeNull();
	expect((await awake.session("s").state()).messages.map(({ type }) => type)).toEqual(["user", "assistant"]);
});
