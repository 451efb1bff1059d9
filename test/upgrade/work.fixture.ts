// The agents of an upgrade, which an earlier build and this one run on the same database, and the work that the earlier
// process leaves behind. It uses only names that both builds have. Started as a program, it does the work and never ends.

import { scriptedModel } from "@holdfast/testing";
import { agent, tool } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { z } from "zod";

/** Calls of `book`: what was booked, under which key, in which attempt. */
export interface Booking {
	readonly city: string;
	readonly key: string;
	readonly attempt: number;
}

export function makeWork(file: string, book: (booking: Booking) => unknown) {
	const booking = tool({
		name: "book",
		description: "Books a room.",
		parameters: z.object({ city: z.string() }),
		retryPolicy: "idempotent",
		run: async ({ city }, { idempotencyKey, attempt }) => {
			await book({ city, key: idempotencyKey, attempt });
			return `booked in ${city}`;
		},
	});
	const pay = tool({
		name: "pay",
		description: "Pays an invoice.",
		parameters: z.object({ invoice: z.string() }),
		needsApproval: true,
		run: ({ invoice }) => `${invoice} is paid`,
	});
	const model = scriptedModel(({ messages }) => {
		const last = messages.at(-1);
		if (last?.type === "tool_result") return `Done: ${last.text}`;
		const [verb, what = ""] = (last?.text ?? "").split(" ");
		if (verb === "book") return { toolCalls: [{ name: "book", arguments: { city: what } }] };
		if (verb === "pay") return { toolCalls: [{ name: "pay", arguments: { invoice: what } }] };
		if (verb === "delegate")
			return {
				toolCalls: [
					{
						name: "delegate_to_clerk",
						arguments: { prompt: `book ${what}`, description: "A room", run_in_background: true },
					},
				],
			};
		return `Heard: ${last?.text}`;
	});
	const host = sqliteHost(file);
	const clerk = agent({ name: "clerk", description: "Books rooms.", model, tools: [booking] });
	const planner = agent({ name: "planner", model, tools: [booking, pay], subagents: [clerk], host });
	return { planner, host };
}

if (process.argv[2] === "--leave-work") {
	const { planner } = makeWork(process.argv[3] as string, ({ city }) => {
		if (city === "Rome") return;
		// Killed in here.
		console.log(`in ${city}`);
		return new Promise(() => setInterval(() => {}, 1_000));
	});
	const finished = await planner.session("finished").send("book Rome");
	await finished.result();
	const waiting = await planner.session("waiting").send("pay A-7");
	await waiting.result();
	await planner.session("killed").send("book Porto");
	await planner.session("killed").send("hello");
	const delegated = await planner.session("delegated").send("delegate Braga");
	await delegated.result();
}
