// A conversation in the terminal: two tools, a streamed answer, and a session that remembers earlier messages.
import { createInterface } from "node:readline";
import { scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { agent, tool } from "holdfast";
import { z } from "zod";

const weather = tool({
	name: "weather",
	description: "The weather in a city.",
	parameters: z.object({ city: z.string() }),
	run: ({ city }) => ({ city, celsius: city === "Oslo" ? -3 : 21 }),
});

const convert = tool({
	name: "convert",
	description: "Converts degrees Celsius to Fahrenheit.",
	parameters: z.object({ celsius: z.number() }),
	run: ({ celsius }) => ({ fahrenheit: (celsius * 9) / 5 + 32 }),
});

// A few rules in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	const said = last?.text ?? "";
	if (last !== undefined && isToolResultMessage(last))
		return `That is ${JSON.stringify(last.results[0]?.result)}.`;
	const city = /in (?<city>[A-Z]\w+)/.exec(said)?.groups?.city;
	if (city !== undefined) return { toolCalls: [{ name: "weather", arguments: { city } }] };
	const celsius = /-?\d+/.exec(said)?.[0];
	if (celsius !== undefined)
		return { toolCalls: [{ name: "convert", arguments: { celsius: Number(celsius) } }] };
	return `This conversation has ${messages.length} messages. Ask me about the weather in Oslo, or what 21 °C are.`;
});

const guide = agent({ model, tools: [weather, convert], instructions: "You know the weather." });
const session = guide.session("terminal");

const lines = createInterface({ input: process.stdin, terminal: false });
process.stdout.write("> ");
for await (const line of lines) {
	for await (const event of (await session.send(line)).watch()) {
		if (event.type === "tool_start") console.log(`[${event.toolName} ${JSON.stringify(event.input)}]`);
		if (event.type === "model" && event.event.type === "text_delta")
			process.stdout.write(event.event.delta.text ?? "");
	}
	process.stdout.write("\n> ");
}
process.stdout.write("\n");
await guide.close();
