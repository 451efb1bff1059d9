// Asks the agent once, and prints the answer as it streams: npm start -- "What is 2 + 3?"
import { assistant } from "./agent.ts";

const question = process.argv.slice(2).join(" ") || "What is 2 + 3?";
console.log(`> ${question}`);

const stream = assistant.stream(question);
for await (const event of stream) {
	if (event.upp?.type === "text_delta") process.stdout.write(event.upp.delta.text ?? "");
}
const { turn } = await stream.result;
console.log(`\n(${turn.usage.totalTokens} tokens)`);
