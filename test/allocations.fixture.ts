// A program that prints how many bytes one step of a function and one session in memory allocate, as JSON. It runs with
// `--expose-gc`, young objects that have room for a whole round, and code that is compiled at once: so nothing is collected
// within a round, and each run finds nearly the same.

import { scriptedModel } from "@holdfast/testing";
import { Agent, tool } from "holdfast";

const steps = 50;
const look = tool({
	name: "look",
	description: "Looks at one thing.",
	parameters: { type: "object", properties: {} },
	retryPolicy: "pure",
	run: () => "Seen.",
});
const call = { toolCalls: [{ name: "look" }] };
const options = {
	tools: [look],
	model: scriptedModel(({ messages }) => (messages.length < 2 * steps ? call : "Done.")),
};
const shortOptions = {
	tools: [look],
	model: scriptedModel(({ messages }) => (messages.length < 3 ? call : "Done.")),
};

async function functionSteps(): Promise<number> {
	for (let run = 0; run < 20; run++) await new Agent(options).generate("Look.");
	return 20 * steps;
}

async function sessions(): Promise<number> {
	const agent = new Agent(shortOptions);
	const keys = Array.from({ length: 300 }, (_, at) => `customer-${at}`);
	await Promise.all(keys.map(async (key) => (await agent.session(key).send("Look.")).result()));
	await agent.close();
	return keys.length;
}

/** The least that a round of them allocates, in bytes for one of what it counts. */
async function allocated(round: () => Promise<number>): Promise<number> {
	for (let warm = 0; warm < 20; warm++) await round();
	let least = Number.POSITIVE_INFINITY;
	for (let measured = 0; measured < 5; measured++) {
		globalThis.gc?.();
		const before = process.memoryUsage().heapUsed;
		const count = await round();
		const bytes = (process.memoryUsage().heapUsed - before) / count;
		// Below 0 where something was collected after all.
		if (bytes > 0) least = Math.min(least, bytes);
	}
	return Math.round(least);
}

process.stdout.write(
	JSON.stringify({ step: await allocated(functionSteps), session: await allocated(sessions) }),
);
process.exit(0);
