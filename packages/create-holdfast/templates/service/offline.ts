// A rule-based model, so that this runs without a key: it adds the numbers of a message with the tool, and reports the
// tool's result. Remove it once you have a real model.
import { type ScriptedModel, scriptedModel } from "@holdfast/testing";

export const offline: ScriptedModel = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	if (last?.type === "tool_result") return `That makes ${last.text}.`;
	const numbers = [...(last?.text ?? "").matchAll(/-?\d+(?:\.\d+)?/g)].map(Number);
	if (numbers.length > 1) return { toolCalls: [{ name: "add", arguments: { numbers } }] };
	return 'I am a model that follows a few fixed rules. Ask me "What is 2 + 3?", or set OPENAI_API_KEY for a real one.';
});
