// A workflow on HTTP: started, followed and steered by the client.
import { createClient } from "@holdfast/client";
import { createServer, sessionService } from "@holdfast/server";
import { memoryHost } from "holdfast";
import { workflow } from "holdfast/workflow";
import { expect, onTestFinished, test } from "vitest";

test("a workflow is started over HTTP with JSON text, and its result is the answer", async () => {
	const host = memoryHost();
	const greet = workflow({ name: "greet", host }, async (flow, { name }: { name: string }) => {
		const greeting = await flow.step("compose", () => `Hello, ${name}!`);
		await flow.sleep(5);
		return { greeting };
	});
	const service = sessionService({ host, agent: greet.agent });
	const server = createServer({ service });
	onTestFinished(async () => {
		await server.close({ drainMs: 0 });
		await host.close();
	});
	const { url } = await server.listen({ port: 0 });
	const client = createClient({ url });
	const result = await client.execute({ input: JSON.stringify({ name: "Ada" }) }).result();
	expect(result).toMatchObject({ status: "completed", output: { greeting: "Hello, Ada!" } });
});

test("while its step runs, a workflow is asked for its state, answered and sent an event over HTTP", async () => {
	const host = memoryHost();
	const gate = Promise.withResolvers<string>();
	const order = workflow({ name: "order", host }, async (flow) => {
		await flow.state({ shipped: 0 });
		const working = flow.step("work", () => gate.promise);
		const [isPaid, note] = await Promise.all([flow.approve("pay"), flow.event("note")]);
		await flow.state({ shipped: 1 });
		return { isPaid, note, work: await working };
	});
	const server = createServer({ service: sessionService({ host, agent: order.agent }) });
	onTestFinished(async () => {
		await server.close({ drainMs: 0 });
		await host.close();
	});
	const { url } = await server.listen({ port: 0 });
	const client = createClient({ url });
	const sessionId = "order-7";
	const result = client.execute({ sessionId, context: {}, input: "null" }).result();
	await expect.poll(async () => (await client.session(sessionId)).pendingToolCalls?.length).toBe(1);
	const { workflowState, pendingToolCalls = [] } = await client.session(sessionId);
	expect(workflowState).toEqual({ shipped: 0 });
	await client.approve(sessionId, pendingToolCalls[0]?.id as string);
	const event = client.execute({ sessionId, input: JSON.stringify({ event: "note", payload: 7 }) }).result();
	await expect.poll(async () => (await client.session(sessionId)).workflowState).toEqual({ shipped: 1 });
	gate.resolve("done");
	const output = { isPaid: true, note: 7, work: "done" };
	expect(await result).toMatchObject({ status: "completed", output });
	expect(await event).toMatchObject({ status: "completed" });
	expect(await client.session(sessionId)).toMatchObject({
		status: "completed",
		workflowState: { shipped: 1 },
	});
	const late = client.execute({ sessionId, input: JSON.stringify({ event: "note" }) }).result();
	await expect(late).rejects.toMatchObject({ code: "workflow_not_running" });
});
