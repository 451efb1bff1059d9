// A strategy that acts without asking a model: each call of the plan is a step of its own, with a wait after it. Then the
// model is shown what came of them.
import { strategy } from "holdfast/execution";
import type { CasePlan } from "./case-model.fixture.ts";

/** Long enough that no wait is over before it begins, also where the machine is busy: then it would not be written. */
const milliseconds = 1_000;

export const requestingStrategy = strategy({
	name: "requesting",
	decide({ state, last, step, executions }) {
		const [first] = state.messages;
		const { task, requests = [] } = JSON.parse((first as { text?: string }).text ?? "{}") as CasePlan;
		switch (last.kind) {
			case "assistant":
				return { kind: "finish" };
			case "results": {
				const results = executions().map(({ toolCallId, result }) => [toolCallId, result]);
				return { kind: "note", topic: "metadata", value: { key: `call ${step}`, value: results } };
			}
			case "note":
				return { kind: "ask", topic: "wake-at", question: () => Date.now() + milliseconds };
			case "decision":
				return { kind: "wait", until: Number(last.value) };
		}
		const toolName = requests[step];
		if (toolName === undefined) {
			const prompt = `Found: ${JSON.stringify(state.metadata)}`;
			return { kind: "model", tag: "act", step: "next", prompt };
		}
		const toolCallId = `${task.replaceAll(/[^\w-]/g, "-")}-${step + 1}`;
		const call = { toolName, arguments: { subject: `s${step}` }, toolCallId };
		return { kind: "tools", step: "next", calls: [call], afterwards: "continues" };
	},
});
