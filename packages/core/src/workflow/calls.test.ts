// Tools, sub-agents, approvals and questions in workflows.
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../agent/index.ts";
import { memoryHost } from "../host/index.ts";
import { tool } from "../tools/index.ts";
import { workflow } from "./workflow.ts";

const add = tool({
	name: "add",
	description: "Adds.",
	parameters: z.object({ a: z.number(), b: z.number() }),
	run: ({ a, b }) => a + b,
});

describe("a workflow's calls", () => {
	test("of tools have their results, concurrently and one after the other", async () => {
		const sums = workflow({ name: "sums", tools: [add], host: memoryHost() }, async (flow) => {
			const [one, two] = await Promise.all([flow.tool(add, { a: 1, b: 2 }), flow.tool(add, { a: 3, b: 4 })]);
			const step = flow.step("step", () => "step");
			const failed = await flow.tool(add, { a: "x" as never, b: 1 }).catch((error) => error.code);
			return [one, two, await flow.tool(add, { a: one, b: two }), await step, failed];
		});
		const run = await sums.session("s").send(undefined);
		expect(await run.result()).toMatchObject({
			outcome: "completed",
			output: [3, 7, 10, "step", "tool_call_failed"],
		});
	});

	test("to people store their details, and reject those that cannot be stored", async () => {
		const asks = workflow({ name: "asks", host: memoryHost() }, async (flow) => {
			const rejected = [flow.approve("pay", () => 1), flow.ask("Where to?", Symbol("details"))];
			const codes = await Promise.all(rejected.map((call) => call.catch(({ code }) => code)));
			return [codes, await flow.approve("pay", { amount: 1n, at: new Date(0) })];
		});
		const session = asks.session("s");
		await session.send(undefined);
		await expect.poll(async () => (await session.session.pending()).length).toBe(1);
		const [call] = await session.session.pending();
		expect(call?.arguments.details).toEqual({ amount: "1", at: "1970-01-01T00:00:00.000Z" });
		const run = await session.session.answer([{ toolCallId: call?.toolCallId as string, approved: true }]);
		expect((await run.result()).output).toEqual([["unserialisable_value", "unserialisable_value"], true]);
	});

	test("wait for approval without a process, while other branches continue", async () => {
		const host = memoryHost();
		const done: string[] = [];
		let starts = 0;
		const pay = workflow({ name: "pay", tools: [add], host }, async (flow) => {
			starts++;
			const paid = flow.approve("pay", { amount: 50 });
			const other = (async () => {
				await flow.sleep(5);
				await flow.step("remind", () => void done.push("reminded"));
				return flow.tool(add, { a: 1, b: 1 });
			})();
			const event = flow.event("late");
			return { two: await other, paid: await paid, event: await event };
		});
		const session = pay.session("s");
		const run = await session.send(undefined);
		await expect.poll(() => done).toEqual(["reminded"]);
		await expect.poll(async () => (await session.session.pending()).length).toBe(1);
		const [call] = await session.session.pending();
		expect(call).toMatchObject({ awaits: "approval", arguments: { name: "pay", details: { amount: 50 } } });
		await session.signal("late", 1);
		// The event is taken first; then the run waits again.
		await expect.poll(async () => (await session.session.pending()).length).toBe(1);
		await session.session.answer([{ toolCallId: call?.toolCallId as string, approved: true }]);
		expect(await run.result()).toMatchObject({
			outcome: "completed",
			output: { two: 2, paid: true, event: 1 },
		});
		expect(starts).toBe(1);
		expect(done).toEqual(["reminded"]);
	});

	test("are denied, answered, and ended by a timeout of the code", async () => {
		const asks = workflow({ name: "asks", host: memoryHost() }, async (flow) => {
			const paid = await flow.approve("pay");
			const address = await flow.ask<{ street: string }>("Where to?", { fields: ["street"] });
			const none = await Promise.race([flow.approve("again"), flow.sleep(5).then(() => "too late")]);
			return { paid, address, none };
		});
		const session = asks.session("s");
		const run = await session.send(undefined);
		const pending = async () => {
			await expect.poll(async () => (await session.session.pending()).length).toBe(1);
			return (await session.session.pending())[0];
		};
		await session.session.answer([
			{ toolCallId: (await pending())?.toolCallId as string, approved: false, reason: "No." },
		]);
		const question = await pending();
		expect(question).toMatchObject({
			awaits: "result",
			arguments: { question: "Where to?", details: { fields: ["street"] } },
		});
		await session.session.answer([
			{ toolCallId: question?.toolCallId as string, output: { street: "Rua Nova" } },
		]);
		expect(await run.result()).toMatchObject({
			outcome: "completed",
			output: { paid: false, address: { street: "Rua Nova" }, none: "too late" },
		});
		expect(await session.session.pending()).toEqual([]);
	});

	test("of sub-agents have their answers, and wait where the sub-agent waits", async () => {
		const host = memoryHost();
		const send = tool({
			name: "send",
			description: "Sends.",
			parameters: z.object({}),
			needsApproval: true,
			run: () => "sent",
		});
		const writer = new Agent({
			name: "writer",
			description: "Writes.",
			model: scriptedModel(["Dear Ada,"]),
			host,
		});
		const rater = new Agent({
			name: "rater",
			description: "Rates.",
			model: scriptedModel(['{"stars":4}', '{"stars":5}']),
			output: z.object({ stars: z.number() }),
			host,
		});
		const sender = new Agent({
			name: "sender",
			description: "Sends.",
			model: scriptedModel([{ toolCalls: [{ name: "send", arguments: {} }] }, "It is sent."]),
			tools: [send],
			host,
		});
		const mail = workflow({ name: "mail", subagents: [writer, rater, sender], host }, async (flow) => {
			const draft: string = await flow.agent(writer, "Welcome Ada.");
			const ratings = await Promise.all([flow.agent(rater, "one"), flow.agent(rater, "two")]);
			const stars: number = ratings[0].stars + ratings[1].stars;
			return { draft, stars, sent: await flow.agent(sender, "Send it.") };
		});
		const session = mail.session("s");
		const run = await session.send(undefined);
		await expect.poll(async () => (await session.session.pending()).length).toBe(1);
		const [call] = await session.session.pending();
		expect(call).toMatchObject({ toolName: "send", awaits: "approval", path: [{ agent: "sender" }] });
		await session.session.answer([{ toolCallId: call?.toolCallId as string, approved: true }]);
		expect(await run.result()).toMatchObject({
			outcome: "completed",
			output: { draft: "Dear Ada,", stars: 9, sent: "It is sent." },
		});
	});
});
