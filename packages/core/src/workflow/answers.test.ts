// Answers, events and interrupts that arrive while steps and tools of a workflow run.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { acceptInput, storedInput } from "../facts/index.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/index.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { tool } from "../tools/index.ts";
import type { Flow } from "./flow.ts";
import { workflow } from "./workflow.ts";
import type { WorkflowSession } from "./workflow-session.ts";

/** A step that ends when the test says so. */
function held(): {
	readonly run: () => Promise<string>;
	readonly end: () => void;
	readonly began: Promise<void>;
} {
	const began = Promise.withResolvers<void>();
	const gate = Promise.withResolvers<string>();
	const run = (): Promise<string> => {
		began.resolve();
		return gate.promise;
	};
	return { run, end: () => gate.resolve("ended"), began: began.promise };
}

/** Resolves with the only call that can be answered. */
async function onlyCall({ session }: WorkflowSession<never>): Promise<string> {
	await expect.poll(async () => (await session.pending()).length).toBe(1);
	return (await session.pending())[0]?.toolCallId as string;
}

describe("while a step runs", () => {
	test("an approval can be answered, and the code continues with the decision", async () => {
		const step = held();
		const seen: string[] = [];
		let starts = 0;
		const pay = workflow({ name: "pay", host: memoryHost() }, async (flow) => {
			starts++;
			const working = flow.step("work", step.run).then((value) => seen.push(value));
			const isPaid = await flow.approve("pay");
			seen.push(`paid ${isPaid}`);
			const address = await flow.ask<string>("Where to?");
			seen.push(address);
			await flow.step("ship", () => seen.push("shipped"));
			await working;
			return seen;
		});
		const session = pay.session("s");
		const run = await session.send(undefined);
		await step.began;
		await session.session.answer([{ toolCallId: await onlyCall(session as never), approved: true }]);
		await expect.poll(() => seen).toEqual(["paid true"]);
		await session.session.answer([{ toolCallId: await onlyCall(session as never), output: "Lisbon" }]);
		await expect.poll(() => seen).toEqual(["paid true", "Lisbon", "shipped"]);
		expect(await session.session.pending()).toEqual([]);
		step.end();
		expect(await run.result()).toMatchObject({
			outcome: "completed",
			output: ["paid true", "Lisbon", "shipped", "ended"],
		});
		expect(starts).toBe(1);
	});

	test("the decision that another worker accepts, and an event that it sends, reach the code", async () => {
		const [step, last] = [held(), held()];
		const store = memoryJournal();
		const made = (name: string) =>
			workflow({ name: "pay", host: journalHost(store.worker(name)) }, async (flow) => {
				const working = flow.step("work", step.run);
				const more = flow.step("more", last.run);
				const [isPaid, event] = await Promise.all([flow.approve("pay"), flow.event("note")]);
				last.end();
				return { isPaid, event, step: await working, more: await more };
			});
		const session = made("one").session("s");
		const run = await session.send(undefined);
		await step.began;
		await onlyCall(session as never);
		const other = made("two").session("s");
		const sent = other.session.answer([{ toolCallId: await onlyCall(other as never), approved: false }]);
		(await sent).detach();
		await other.signal("note", "from two");
		step.end();
		expect(await run.result()).toMatchObject({
			outcome: "completed",
			output: { isPaid: false, event: "from two", step: "ended", more: "ended" },
		});
		expect(store.read("s").filter(({ fact }) => fact.kind === "run.started")).toHaveLength(1);
	});

	test("an interrupt ends the run, its step and its approval", async () => {
		let signal: AbortSignal | undefined;
		const pay = workflow({ name: "pay", host: memoryHost() }, async (flow) => {
			const hangs = flow.step("work", (context) => {
				signal = context.signal;
				return new Promise<never>(() => {});
			});
			await Promise.all([hangs, flow.approve("pay"), flow.event("note")]);
		});
		const session = pay.session("s");
		const run = await session.send(undefined);
		await onlyCall(session as never);
		expect(await session.stop()).toBe(true);
		expect(await run.result()).toMatchObject({ outcome: "aborted" });
		expect(signal?.aborted).toBe(true);
		expect(await session.session.pending()).toEqual([]);
		await expect(session.signal("note")).rejects.toMatchObject({ code: "workflow_not_running" });
	});
});

test("the result of a tool is not held back by a slower one", async () => {
	const slow = held();
	const wait = tool({
		name: "wait",
		description: "Waits.",
		parameters: z.object({ long: z.boolean() }),
		run: ({ long }) => (long ? slow.run() : "short"),
	});
	const both = workflow({ name: "both", tools: [wait], host: memoryHost() }, async (flow) => {
		const long = flow.tool(wait, { long: true });
		const short = await flow.tool(wait, { long: false });
		await flow.step("after", () => slow.end());
		return [short, await long];
	});
	const run = await both.session("s").send(undefined);
	expect((await run.result()).output).toEqual(["short", "ended"]);
});

describe("events that no code waits for", () => {
	const waiting = async (flow: Flow): Promise<unknown> => [await flow.event("go"), await flow.event("more")];

	test("are kept for the next run if the run that they were accepted for has ended, and start none", async () => {
		const journal = memoryJournal();
		const flow = workflow({ name: "flow", host: journalHost(journal) }, waiting);
		const input = acceptInput('{"event":"go","payload":1}');
		journal.submit("s", { id: input.message.id, kind: "notice", body: storedInput(input) });
		await flow.recover();
		expect(journal.read("s")).toEqual([]);
		const session = flow.session("s");
		const run = await session.send(undefined);
		await session.signal("more", 2);
		expect((await run.result()).output).toEqual([1, 2]);
	});

	test("are refused beyond 1,000, which leaves the run alone", async () => {
		const flow = workflow({ name: "flow", host: memoryHost() }, waiting);
		const session = flow.session("s");
		const run = await session.send(undefined);
		for (let at = 0; at < 1_000; at++) {
			await session.signal("other", at);
			// The run takes them between its turns of the event loop.
			if (at % 50 === 49) for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
		}
		await expect(session.signal("go", 1)).rejects.toMatchObject({ code: "workflow_events_full" });
		expect(await session.stop()).toBe(true);
		expect((await run.result()).outcome).toBe("aborted");
	});
});
