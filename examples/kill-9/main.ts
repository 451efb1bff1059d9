// Three bookings, and a process that dies during the third. Start it with `--crash`, then without: the second process finishes
// the run, and repeats only the interrupted call, with the same key.
import { scriptedModel } from "@holdfast/testing";
import { agent, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { z } from "zod";

const crashes = process.argv.includes("--crash");

const book = tool({
	name: "book",
	description: "Books a room in a city.",
	parameters: z.object({ city: z.string() }),
	// A hotel that has seen the key does not book a second room.
	retryPolicy: "idempotent",
	run({ city }, { idempotencyKey, attempt }) {
		console.log(`book ${city}, key ${idempotencyKey.slice(-8)}, attempt ${attempt}`);
		if (crashes && city === "Braga") process.kill(process.pid, "SIGKILL");
		return "booked";
	},
});

// A few rules in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	const cities = messages[0]?.text.match(/Lisbon|Porto|Braga/g) ?? [];
	const city = cities[messages.filter(({ type }) => type === "tool_result").length];
	if (city === undefined) return `Rooms are booked in ${cities.join(", ")}.`;
	return { toolCalls: [{ name: "book", arguments: { city } }] };
});

const host = sqliteHost("./trips.db");
const planner = agent({ model, tools: [book], host });

const session = planner.session("trip-7");

// Continue the runs that an earlier process left unfinished.
for await (const run of planner.recover()) console.log((await run.result()).text);

if ((await session.state()).messages.length === 0) {
	const run = await session.send("Book rooms in Lisbon, Porto and Braga.");
	console.log((await run.result()).text);
}
await planner.close();
await host.close();
