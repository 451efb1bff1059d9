import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { agent } from "../agent/agent.ts";
import { memoryHost } from "../host/memory-host.ts";
import { strategy } from "./strategy.ts";

test("a strategy's question is asked once: its answer is recorded before it is used, also across a resume", async () => {
	const host = memoryHost();
	const asked: number[] = [];
	const careful = strategy({
		name: "careful",
		decide({ last }) {
			if (last.kind === "assistant") return { kind: "finish" };
			if (last.kind !== "decision") {
				return {
					kind: "ask",
					topic: "tone",
					question: async (state) => asked.push(state.messages.length) && "kind",
				};
			}
			return { kind: "model", tag: "act", step: "next", prompt: `Be ${String(last.value)}.` };
		},
	});
	const hanging = scriptedModel([{ gate: new Promise(() => {}) }]);
	const before = agent({ model: hanging, execution: careful, host });
	const run = await before.session("s").send("go");
	for await (const event of run.watch()) if (event.type === "model_start") run.suspend();
	expect((await run.result()).outcome).toBe("suspended");
	await before.close();

	const model = scriptedModel(["Dear you."]);
	const resumed = await agent({ model, execution: careful, host }).session("s").resume();
	expect((await resumed?.result())?.text).toBe("Dear you.");
	expect(asked).toEqual([1]);
	expect(model.requests[0]?.messages.map((message) => message.text)).toEqual(["go", "Be kind."]);
	const facts = (await host.journal.read("s")).map(({ fact }) => fact);
	expect(facts.find(({ kind }) => kind === "decision")).toMatchObject({ topic: "tone", answer: "kind" });
});
