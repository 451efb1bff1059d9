// An agent whose first call takes until the process emits `holdfast-test`, with how its run ends.
import { scriptedModel } from "@holdfast/testing";
import { Agent, tool } from "holdfast";

const work = tool({
	name: "work",
	description: "Works.",
	parameters: { type: "object" },
	retryPolicy: "idempotent",
	run: (_, { signal }) =>
		new Promise<string>((resolve) => {
			process.once("holdfast-test" as never, resolve);
			signal.addEventListener("abort", () => resolve("stopped"));
		}),
});

export default new Agent({
	model: scriptedModel(({ messages }) => {
		const last = messages.at(-1);
		if (last?.text === "Go.") return { toolCalls: [{ name: "work" }] };
		if (messages.some(({ text }) => text === "fail") && last?.text !== "two")
			throw new Error("The model is broken.");
		return last?.type === "user" ? `Heard ${last.text}` : "Done.";
	}),
	tools: [work],
});
