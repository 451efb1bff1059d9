import { join } from "node:path";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { collect } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { Host } from "../host/host-port.ts";
import { drain } from "../sessions/drain.ts";
import { sqliteHost } from "../sqlite.ts";
import { type FollowedEvent, followSession } from "./follow-session.ts";

const tools = [
	{
		name: "look",
		description: "Looks.",
		parameters: { type: "object" as const },
		retryPolicy: "pure" as const,
		run: () => ({ seen: ["one", "two"] }),
	},
];

const reply = (text: string): ScriptedReply => ({ text, reasoning: "let me think" });

function agentOn(host: Host): Agent {
	const model = scriptedModel(({ messages }) =>
		messages.at(-1)?.type === "user"
			? { ...reply("words and words"), toolCalls: [{ name: "look" }] }
			: reply("done"),
	);
	return new Agent({ model, tools, host, keepDeltasMs: 1 });
}

/** Follows a session until this number of runs have ended. */
async function untilEnds(host: Host, key: string, ends: number): Promise<readonly FollowedEvent[]> {
	const events: FollowedEvent[] = [];
	let ended = 0;
	for await (const each of followSession(host, key, { until: "never" })) {
		events.push(each);
		if (each.event.type === "run_end" && ++ended === ends) break;
	}
	return events;
}

test("a follower of its own process's commits reads a session once, and gets the same events as a later reader", async () => {
	const host = sqliteHost(join(temporaryFolder(), "own.db"));
	const agent = agentOn(host);
	await drain(await agent.session("s").send("first"));
	let reads = 0;
	const { readPage } = host.journal;
	host.journal.readPage = (key, options) => {
		reads++;
		return readPage?.call(host.journal, key, options);
	};
	const live = untilEnds(host, "s", 2);
	await drain(await agent.session("s").send("second"));
	const events = await live;
	// One read to the end of the stored entries, and one more if the session was acquired for the second turn.
	expect(reads).toBeLessThanOrEqual(2);
	expect(events.length).toBeGreaterThan(20);
	expect(events).toEqual(await collect(followSession(host, "s")));
	await agent.close();
	await host.close();
});

test("for any process that works on a session, its followers get each event once and in order", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.constantFrom("own", "other"), { minLength: 2, maxLength: 6 }),
			async (turns) => {
				const path = join(temporaryFolder(), "shared.db");
				const hosts = { own: sqliteHost(path), other: sqliteHost(path) };
				const agents = { own: agentOn(hosts.own), other: agentOn(hosts.other) };
				const live = untilEnds(hosts.own, "s", turns.length);
				for (const [at, who] of turns.entries())
					await drain(await agents[who].session("s").send(`turn ${at}`));
				expect(await live).toEqual(await collect(followSession(hosts.own, "s")));
				for (const agent of Object.values(agents)) await agent.close();
				for (const host of Object.values(hosts)) await host.close();
			},
		),
		{ numRuns: 20 },
	);
});
