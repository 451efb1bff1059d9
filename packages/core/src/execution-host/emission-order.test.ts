import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { gate } from "../sessions/sessions.fixture.ts";
import type { ExecutionStore } from "./execution-host.ts";
import { createInMemoryExecutionHost } from "./in-memory.ts";

test("events of a tool that are emitted while the end of another is recorded come after that end", async () => {
	const { store: inner, ...host } = createInMemoryExecutionHost();
	const [held, resumed] = [gate(), gate()];
	let isOver = false;
	const transaction: ExecutionStore["transaction"] = async (work) => {
		if (isOver) {
			held.open();
			await resumed.promise;
		}
		return inner.transaction(work);
	};
	const quick = {
		name: "quick",
		description: "Is over at once.",
		run: () => {
			isOver = true;
			return "done";
		},
	};
	const talkative = {
		name: "talkative",
		description: "Says something while the other's end is recorded.",
		async *run() {
			await held.promise;
			yield "I continue.";
			resumed.open();
			return "done";
		},
	};
	const model = scriptedModel([{ toolCalls: [{ name: "talkative" }, { name: "quick" }] }, "said"]);
	const parent = new Agent({
		model,
		tools: [quick, talkative],
		host: { ...host, store: { ...inner, transaction } },
	});
	const emitted: string[] = [];
	for await (const { type, seq, sub } of (await parent.session("s").send("go")).watch())
		if (type === "tool_end" || type === "tool_delta") emitted.push(`${type} ${seq}.${sub}`);
	expect(emitted).toEqual(["tool_end 6.0", "tool_delta 6.1", "tool_end 7.0"]);
});

test("step-end is emitted after the ends of all its calls", async () => {
	const host = createInMemoryExecutionHost();
	const quick = { name: "quick", description: "Is over at once.", run: () => "done" };
	const toolCalls = Array.from({ length: 4 }, () => ({ name: "quick" }));
	const agent = new Agent({ model: scriptedModel([{ toolCalls }, "said"]), tools: [quick], host });
	const emitted: string[] = [];
	for await (const { type, seq, sub } of (await agent.session("s").send("go")).watch())
		emitted.push(`${type} ${String(seq).padStart(2, "0")}.${sub}`);
	const places = emitted.map((line) => line.split(" ")[1]);
	expect(places).toEqual([...places].sort());
});
