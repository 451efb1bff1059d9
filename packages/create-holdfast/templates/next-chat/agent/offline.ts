// A rule-based model, so that this runs without a key: it adds the numbers of a message, places orders, and reports the
// results of its tools. Remove it once you have a real model.
import { type ScriptedModel, scriptedModel } from "@holdfast/testing";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
// Streams word by word, as real models do.
const say = (text: string) => ({ text, beforeDelta: () => pause(40) });

export const offline: ScriptedModel = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	if (last?.type === "tool_result") return say(`My tool says: ${last.text}`);
	const text = last?.text ?? "";
	const what = /^order:?\s+(.+)/is.exec(text)?.[1];
	if (what !== undefined) return { toolCalls: [{ name: "order", arguments: { what } }] };
	const numbers = [...text.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number);
	if (numbers.length > 1) return { toolCalls: [{ name: "add", arguments: { numbers } }] };
	return say(
		'I am a model that follows a few fixed rules. Ask me "What is 2 + 3?", say "order a pizza", or set OPENAI_API_KEY for a real one.',
	);
});
