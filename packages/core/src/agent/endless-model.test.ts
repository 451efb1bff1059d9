// Models given to an agent that never answer, or never stop.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "./agent.ts";

test("a model of an agent that stays silent fails the run after `silenceMs`", async () => {
	const model = scriptedModel(() => new Promise<string>(() => {}));
	const agent = new Agent({ model, config: { silenceMs: 20 } });
	const run = await agent.session("s").send("Go.");
	expect(await run.result()).toMatchObject({ outcome: "error", error: { code: "TIMEOUT" } });
	await agent.close();
});

test("a model of an agent whose answer is too long fails the run after `maxAnswerCharacters`", async () => {
	const agent = new Agent({
		model: scriptedModel(() => "x".repeat(2_000)),
		config: { maxAnswerCharacters: 1_000 },
	});
	const run = await agent.session("s").send("Go.");
	expect(await run.result()).toMatchObject({ outcome: "error", error: { code: "INVALID_RESPONSE" } });
	await agent.close();
});
