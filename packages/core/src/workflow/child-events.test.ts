// Child workflows that wait for events. Events cannot be sent to them, so a wait without an end rejects.
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Death, DyingStore } from "../../../../test/shared/dying-host.fixture.ts";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type Host, memoryHost } from "../host/index.ts";
import { sqliteHost } from "../sqlite.ts";
import { runToEnd } from "./crashes.fixture.ts";
import type { Flow } from "./flow.ts";
import { workflow } from "./workflow.ts";

const outcome = { undefined: true, code: "workflow_event_unreachable", after: "after" };

function parentOn(host: Host) {
	const child = workflow({ name: "child" }, async (flow: Flow) => {
		const none = await flow.event("go", { timeout: 1 });
		const code = await flow.event("go").catch((error: { code: string }) => error.code);
		return {
			undefined: none === undefined,
			code,
			after: await flow.step("after", () => "after", { retryPolicy: "pure" }),
		};
	});
	return workflow({ name: "parent", host, workflows: [child] }, (flow) => flow.child(child, undefined));
}

test.each([
	["memory", () => memoryHost()],
	["SQLite", () => sqliteHost(join(temporaryFolder(), "journal.db"))],
] as const)("on a host in %s, the code can catch the error and continues", async (_name, hostOf) => {
	const host = hostOf();
	const parent = parentOn(host);
	const run = await parent.session("s").send(undefined);
	expect(await run.result()).toMatchObject({ outcome: "completed", output: outcome });
	await parent.close();
	await host.close?.();
});

test("the outcome is the same if the process dies at any append", async () => {
	const ends = async (death: Death | undefined): Promise<number> => {
		const store = new DyingStore();
		const { host, died } = store.worker(death);
		const first = async () =>
			(await parentOn(host).session("s").send(undefined, { dedupeKey: "once" })).result();
		let ended: unknown = await Promise.race([first(), died]);
		if (ended === "died") {
			const again = parentOn(store.worker().host);
			ended =
				store.journal.head("s") === undefined
					? await (await again.session("s").send(undefined, { dedupeKey: "once" })).result()
					: await runToEnd(again as never);
		}
		expect(ended, JSON.stringify([death, ended])).toMatchObject({ outcome: "completed", output: outcome });
		return store.appends;
	};
	const appends = await ends(undefined);
	for (let at = 1; at <= appends; at++)
		for (const when of ["before", "after"] as const) await ends({ at, when });
});

test("a workflow without a session rejects, too", async () => {
	const alone = workflow({ name: "alone" }, (flow: Flow) =>
		flow.event("go").catch((error: { code: string }) => error.code),
	);
	const { turn } = await alone.agent.generate("null");
	expect(turn.response.text).toBe("workflow_event_unreachable");
});
