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
