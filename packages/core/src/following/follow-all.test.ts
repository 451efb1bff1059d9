import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { collect } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { journalCorrupt } from "../facts/journal-errors.ts";
import type { ChangeLog } from "../host/changes.ts";
import type { Host } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { drain } from "../sessions/drain.ts";
import { sqliteHost } from "../sqlite.ts";
import { type FollowAllOptions, followAll, type StoreEvent } from "./follow-all.ts";
import { followSession } from "./follow-session.ts";

type FollowedHost = Host & { readonly changes: ChangeLog };

const makers: readonly (readonly [string, () => FollowedHost])[] = [
	["memory", () => memoryHost()],
	["SQLite", () => sqliteHost(join(temporaryFolder(), "store.db"))],
];

function agentOn(host: Host): Agent {
	return new Agent({ model: scriptedModel(() => "Good morning."), host, keepDeltasMs: 1 });
}

async function say(agent: Agent, key: string, text = "Hello"): Promise<void> {
	await drain(await agent.session(key).send(text));
}

/** Returns the events up to the end of this number of runs. */
async function untilEnds(
	host: FollowedHost,
	ends: number,
	options?: FollowAllOptions,
): Promise<readonly StoreEvent[]> {
	const events: StoreEvent[] = [];
	let ended = 0;
	for await (const each of followAll(host, options)) {
		events.push(each);
		if (each.event.type === "run_end" && ++ended === ends) break;
	}
	return events;
}

const ofKey = (events: readonly StoreEvent[], key: string): readonly unknown[] =>
	events.filter((each) => each.key === key).map(({ id, event }) => ({ id, event }));

describe.each(makers)("the events of a store in %s", (_, make) => {
	test("are those of its sessions, each in order and under its ids", async () => {
		const host = make();
		const agent = agentOn(host);
		for (const key of ["a", "b", "a", "c"]) await say(agent, key);
		const live = untilEnds(host, 6);
		await Promise.all([say(agent, "b"), say(agent, "d")]);
		const events = await live;
		for (const key of ["a", "b", "c", "d"])
			expect(ofKey(events, key)).toEqual(await collect(followSession(host, key)));
		await agent.close();
		await host.close();
	});

	test("arrive exactly once, from wherever reading restarts with known positions", async () => {
		const host = make();
		const agent = agentOn(host);
		for (const key of ["a", "b", "a"]) await say(agent, key);
		const whole = await untilEnds(host, 3);
		for (const count of [1, 5, whole.length - 2]) {
			const seen = whole.slice(0, count);
			const known = (key: string, incarnation: string): string | undefined =>
				seen.findLast((each) => each.key === key && each.incarnation === incarnation)?.id;
			const ends = 3 - seen.filter(({ event }) => event.type === "run_end").length;
			const { position: after } = seen.at(-1) as StoreEvent;
			const rest = await untilEnds(host, ends, { after, known });
			for (const key of ["a", "b"])
				expect([...ofKey(seen, key), ...ofKey(rest, key)]).toEqual(ofKey(whole, key));
		}
		await agent.close();
		await host.close();
	});

	test("start with those of the active run if only new events are requested", async () => {
		const host = make();
		const agent = agentOn(host);
		await say(agent, "a");
		await say(agent, "b");
		const live = untilEnds(host, 1, { after: "now" });
		await new Promise((resolve) => setImmediate(resolve));
		await say(agent, "a", "And now?");
		const events = await live;
		expect(new Set(events.map(({ key }) => key))).toEqual(new Set(["a"]));
		expect(events[0]?.event.type).toBe("run_start");
		expect(ofKey(events, "a")).toEqual((await collect(followSession(host, "a"))).slice(-events.length));
		await agent.close();
		await host.close();
	});

	test("distinguish a recreated session from the deleted one", async () => {
		const host = make();
		const agent = agentOn(host);
		await say(agent, "a");
		const events: StoreEvent[] = [];
		const following = followAll(host);
		for (;;) {
			const { value } = (await following.next()) as { readonly value: StoreEvent };
			events.push(value);
			if (value.event.type !== "run_end") continue;
			if (events.filter(({ event }) => event.type === "run_end").length === 2) break;
			await agent.session("a").delete();
			await say(agent, "a", "Hello again");
		}
		await following.return?.();
		const [one, other] = [...new Set(events.map(({ incarnation }) => incarnation))];
		const of = (incarnation?: string) => events.filter((each) => each.incarnation === incarnation);
		expect(of(one).map(({ event }) => event.type)).toEqual(of(other).map(({ event }) => event.type));
		await agent.close();
		await host.close();
	});
});

test("an unreadable session is skipped after a notification, and read once it can be read", async () => {
	const host = memoryHost();
	const agent = agentOn(host);
	for (const key of ["a", "b"]) await say(agent, key);
	let isDamaged = true;
	const damaged = {
		changes: host.changes,
		journal: Object.create(host.journal, {
			read: {
				value: (key: string, options: object) =>
					key === "a" && isDamaged
						? Promise.reject(journalCorrupt("a body is no JSON"))
						: host.journal.read(key, options),
			},
		}),
	};
	const problems: unknown[] = [];
	const unreadable = (key: string, error: unknown): void =>
		void problems.push([key, (error as { code?: string }).code]);
	const events = await collect(followAll(damaged, { until: "caught-up", unreadable }));
	expect(new Set(events.map(({ key }) => key))).toEqual(new Set(["b"]));
	expect(problems).toEqual([["a", "journal_corrupt"]]);
	await expect(collect(followAll(damaged, { until: "caught-up" }))).rejects.toMatchObject({
		code: "journal_corrupt",
	});
	isDamaged = false;
	expect(ofKey(await collect(followAll(damaged, { until: "caught-up", unreadable })), "a")).toEqual(
		await collect(followSession(host, "a")),
	);
	await agent.close();
});

test("followers are notified of deletions, and can stop when nothing more was committed", async () => {
	const host = memoryHost();
	const agent = agentOn(host);
	for (const key of ["a", "b"]) await say(agent, key);
	const after = await host.changes.position();
	await agent.session("a").delete();
	const gone: string[] = [];
	const deleted = (key: string): void => void gone.push(key);
	expect(await collect(followAll(host, { after, until: "caught-up", deleted }))).toEqual([]);
	expect(gone).toEqual(["a"]);
	await agent.close();
});

test("a follower can leave while nothing happens", async () => {
	const host = memoryHost();
	const following = followAll(host);
	const next = following.next();
	await following.return?.();
	expect(await next).toEqual({ done: true, value: undefined });
});

test("following requires a host and a key", () => {
	const host = memoryHost();
	const wrong = [[undefined, "s"], ["s"], [host], [host, 5]] as unknown as [Host, string][];
	for (const [given, key] of wrong)
		expect(() => followSession(given, key)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
	for (const given of [undefined, { journal: host.journal }] as unknown as FollowedHost[])
		expect(() => followAll(given)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
});

test("more sessions than can be read at once are all followed", async () => {
	const host = memoryHost();
	const agent = agentOn(host);
	const keys = Array.from({ length: 300 }, (_, index) => `s${index}`);
	const live = untilEnds(host, 600, { after: "now" });
	for (let turn = 0; turn < 2; turn++) for (const key of keys) await say(agent, key);
	const events = await live;
	for (const key of keys) expect(ofKey(events, key)).toEqual(await collect(followSession(host, key)));
	await agent.close();
});
