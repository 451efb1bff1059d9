// Several watchers of one session, each in a different way: a watcher that leaves does not affect the others.
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { followSession } from "../following/follow-session.ts";
import type { Host } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { sqliteHost } from "../sqlite.ts";
import { gate } from "./sessions.fixture.ts";

type Events = AsyncIterator<{ readonly type: string }>;

/** Events of a session without their ids. */
async function* eventsOf(host: Host): AsyncGenerator<{ readonly type: string }> {
	for await (const { event } of followSession(host, "s", { until: "complete" })) yield event;
}

/** Reads up to an event of a type; undefined: to the end. */
async function upTo(events: Events, type?: string): Promise<readonly string[]> {
	const types: string[] = [];
	for (;;) {
		const { done, value } = await events.next();
		if (done) return types;
		types.push(value.type);
		if (value.type === type) return types;
	}
}

test.each([
	["memory", () => memoryHost()],
	["SQLite", () => sqliteHost(join(temporaryFolder(), "sessions.db"))],
] as const)(
	"leaving affects no one else who watches the run or follows its session in %s",
	async (_, make) => {
		const host: Host = make();
		const open = gate();
		const agent = new Agent({ model: scriptedModel([{ text: "one two", gate: open.promise }]), host });
		const run = await agent.session("s").send("go");
		const watchers: Events[] = [
			run.watch(),
			eventsOf(host),
			run.watch(),
			eventsOf(host),
			run.watch(),
			eventsOf(host),
		];
		let changes = 0;
		const unwatch = host.journal.watch("s", () => {});
		host.journal.watch("s", () => changes++);
		await Promise.all(watchers.map((events) => upTo(events, "input")));
		const pending = watchers.map((events) => events.next());
		// The first ones and the last ones leave, and two of them leave a second time.
		for (const at of [0, 1, 4, 5]) void watchers[at]?.return?.();
		for (const at of [0, 4]) await watchers[at]?.return?.();
		unwatch();
		unwatch();
		const before = changes;
		open.open();
		const staying = await Promise.all(
			[2, 3].map(async (at) => {
				await pending[at];
				return upTo(watchers[at] as Events);
			}),
		);
		for (const types of staying) expect(types.slice(-3)).toEqual(["message", "step_end", "run_end"]);
		expect(changes).toBeGreaterThan(before);
		await agent.close();
		await host.close();
	},
);
