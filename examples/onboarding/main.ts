// Runs the onboarding of two customers with a clock that skips the days.
import { runWorkflow } from "@holdfast/testing";
import { onboarding, outbox } from "./onboarding.ts";

const customers = [
	{
		input: { name: "Ada", email: "ada@example.com" },
		events: [{ event: "project created", payload: "engine" }],
	},
	{ input: { name: "Bob", email: "bob@example.com" }, events: [] },
];

for (const { input, events } of customers) {
	const { output, elapsedMs } = await runWorkflow(onboarding, input, { events });
	console.log(`${input.name}: ${elapsedMs / 86_400_000} days, project: ${output?.project}`);
	for (const mail of outbox.values()) console.log(`  ${mail}`);
	outbox.clear();
}
