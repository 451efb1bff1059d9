import { scriptedModel } from "@holdfast/testing";
import { UPPError } from "@holdfast/upp";
import { expect, test } from "vitest";
import { agent } from "../agent/agent.ts";
import { memoryHost } from "../host/memory-host.ts";

const busy = (): UPPError => new UPPError("busy", "RATE_LIMITED", "test", "llm");
const config = { retryStrategy: { onRetry: (_: unknown, attempt: number) => (attempt > 2 ? null : 0) } };

test("retries of the model are in the journal before its answer, and the run does not depend on them", async () => {
	const host = memoryHost();
	const model = scriptedModel((_, call) => (call < 2 ? { error: busy() } : "hi"));
	const run = await agent({ model, host, config }).session("s").send("go");
	expect(await run.result()).toMatchObject({ outcome: "completed", text: "hi", steps: 1 });
	const facts = (await host.journal.read("s")).map(({ fact }) => fact);
	expect(facts.map(({ kind }) => kind)).toEqual([
		"run.started",
		"input",
		"note",
		"note",
		"assistant",
		"run.ended",
	]);
	expect(facts[2]).toMatchObject({
		topic: "model-retry",
		value: { attempt: 1, delay: 0, error: { code: "RATE_LIMITED", message: "busy" } },
	});
});

test("retries are in the journal even if the model never answers", async () => {
	const host = memoryHost();
	const model = scriptedModel(() => ({ error: busy() }));
	const run = await agent({ model, host, config }).session("s").send("go");
	expect(await run.result()).toMatchObject({ outcome: "error", error: { code: "RATE_LIMITED" } });
	const topics = (await host.journal.read("s")).map(({ fact }) =>
		fact.kind === "note" ? fact.topic : fact.kind,
	);
	expect(topics).toEqual(["run.started", "input", "model-retry", "model-retry", "run.ended"]);
});
