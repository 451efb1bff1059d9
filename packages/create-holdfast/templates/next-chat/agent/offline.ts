// A model of a few rules, so that this runs without a key: it adds the numbers of a message, orders what it is told to, and
// says what its tools gave. Remove it once you have a real one.
import { type ScriptedModel, scriptedModel } from "@holdfast/testing";

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
// A word at a time, as real models answer.
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
		'I am a model of a few rules. Ask me "What is 2 + 3?", say "order a pizza", or set OPENAI_API_KEY for a real one.',
	);
});
