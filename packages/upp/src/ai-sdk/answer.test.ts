import { expect, test } from "vitest";
import { AssistantMessage } from "../messages/index.ts";
import type { StreamEvent } from "../stream/index.ts";
import { sumUsage } from "../turn/index.ts";
import { Answer } from "./answer.ts";
import { dialectOf } from "./dialect.ts";
import { toUsage } from "./outcome.ts";
import { promptMessage } from "./prompt-message.ts";
import { wireTools } from "./wire-tools.ts";

test("calls are in the order in which they were begun, whichever is whole first", () => {
	const events: StreamEvent[] = [];
	const answer = new Answer((event) => events.push(event), "text");
	answer.take({ type: "tool-input-start", id: "a", toolName: "look" });
	answer.take({ type: "tool-input-start", id: "b", toolName: "look" });
	answer.take({ type: "tool-call", toolCallId: "b", toolName: "look", input: "{}" });
	answer.take({ type: "tool-call", toolCallId: "a", toolName: "look", input: "{}" });
	const { message } = answer.finish();
	expect(message.toolCalls?.map(({ toolCallId }) => toolCallId)).toEqual(["a", "b"]);
	expect(events.map(({ index, delta }) => [index, delta.toolCallId])).toEqual([
		[0, "a"],
		[1, "b"],
	]);
});

const properties = { $filter: { type: "string" }, top: { type: "number" } };
const search = {
	name: "search",
	description: "Searches.",
	parameters: { type: "object", properties, required: ["$filter"] },
	inputExamples: [{ input: { $filter: "a", top: 1 } }],
};

function dialectFor(provider: string) {
	const model = { specificationVersion: "v3", provider, modelId: "m" } as const;
	return dialectOf({ ...model, doGenerate: async () => ({}), doStream: async () => ({}) as never });
}

test.each(["anthropic.messages", "vertex.anthropic.messages", "amazon-bedrock"])(
	"%s sees other names of properties, and the call has the tool's own",
	(provider) => {
		const dialect = dialectFor(provider);
		const { tools, renamed } = wireTools([search], dialect);
		const [sent] = tools as [{ inputSchema: typeof search.parameters; inputExamples: { input: object }[] }];
		const [name = "", other] = Object.keys(sent.inputSchema.properties);
		expect(name).toMatch(/^_filter_[a-z0-9]{10}$/);
		expect(other).toBe("top");
		expect(sent.inputSchema.required).toEqual([name]);
		expect(sent.inputExamples).toEqual([{ input: { [name]: "a", top: 1 } }]);

		const events: StreamEvent[] = [];
		const answer = new Answer((event) => events.push(event), "text", renamed);
		const input = JSON.stringify({ [name]: "a", top: 1 });
		answer.take({ type: "tool-input-start", id: "c", toolName: "search" });
		answer.take({ type: "tool-input-delta", id: "c", delta: input });
		answer.take({ type: "tool-call", toolCallId: "c", toolName: "search", input });
		const { toolCalls = [] } = answer.finish().message;
		const own = { $filter: "a", top: 1 };
		expect(toolCalls).toMatchObject([{ toolName: "search", arguments: own }]);
		expect(events.map(({ delta }) => delta.argumentsJson)).toEqual([JSON.stringify(own)]);
		const said = promptMessage([new AssistantMessage("", toolCalls)], 0, dialect);
		expect(said.content).toMatchObject([{ type: "tool-call", input: { [name]: "a", top: 1 } }]);
	},
);

test("a provider that accepts any name of a property sees the tool's own", () => {
	const { tools, renamed } = wireTools([search], dialectFor("openai.responses"));
	expect(tools).toMatchObject([{ inputSchema: search.parameters, inputExamples: search.inputExamples }]);
	expect(renamed.size).toBe(0);
});

test("reasoning tokens are counted, as each version of the AI SDK has them, and add up", () => {
	const nested = toUsage({ inputTokens: { total: 5 }, outputTokens: { total: 9, reasoning: 4 } });
	const flat = toUsage({ inputTokens: 5, outputTokens: 9, reasoningTokens: 2 });
	expect(nested.reasoningTokens).toBe(4);
	expect(sumUsage(nested, flat).reasoningTokens).toBe(6);
	expect(toUsage({ inputTokens: 5, outputTokens: 9, reasoningTokens: 0 })).not.toHaveProperty(
		"reasoningTokens",
	);
});
