import { expect, test } from "vitest";
import { forwarded, type SessionAgent } from "./turn-agent.ts";

/** Does not compile until a new member is listed. */
const members = Object.keys({
	engine: true,
	engineOfCalls: true,
	resolve: true,
	policy: true,
	admitWaiting: true,
	setup: true,
	namespace: true,
	keys: true,
	restarts: true,
	unread: true,
	modelWait: true,
	warn: true,
	host: true,
	home: true,
	inStore: true,
	inTable: true,
	children: true,
} satisfies Record<keyof SessionAgent, true>);

test("a forwarded agent has every member of the agent as it is at the time, except those that it replaces", () => {
	const agent = Object.fromEntries(members.map((name) => [name, {}])) as unknown as SessionAgent;
	const changes = { policy: {} as never, admitWaiting: undefined };
	const made = forwarded(forwarded(agent, {}), changes);
	Object.assign(agent, Object.fromEntries(members.map((name) => [name, { now: name }])));
	for (const name of members) {
		const from = Object.hasOwn(changes, name) ? changes : agent;
		expect(made[name as keyof SessionAgent], name).toBe(from[name as keyof typeof from]);
	}
});
