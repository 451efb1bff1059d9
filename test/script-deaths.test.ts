// The worker of a script dies at each append, of the agent's session or of the script's. Another worker continues it.

import { createSandbox } from "@holdfast/sandbox";
import { codeMode } from "@holdfast/sandbox/code-mode";
import { scriptedModel } from "@holdfast/testing";
import { Agent, type Host, tool } from "holdfast";
import { afterAll, expect, test } from "vitest";
import { type Death, DyingStore } from "./shared/dying-host.fixture.ts";

const sandbox = createSandbox({ workers: 2 });
afterAll(() => sandbox.close());

const code = `
const first = await Promise.race([tools.work({ item: 3 }), tools.work({ item: 0 })]);
const items = await Promise.all([2, 0, 1].map(async (item) => {
	const one = await tools.work({ item });
	if (one === 2) console.log("two", Math.random() < 2);
	return tools.work({ item: one + 1 }).catch((error) => error.message.includes("bad"));
}));
return { first, items };`;

const result = /"first\\":0,\\"items\\":\[true,1,2\]\}.*Done\./;

interface World {
	/** The keys under which each item was worked on. */
	readonly keys: Map<number, Set<string>>;
}

function agentOn(host: Host, { keys }: World): Agent {
	const work = tool({
		name: "work",
		description: "Works on an item for as many turns as its number.",
		parameters: { type: "object", properties: { item: { type: "number" } }, required: ["item"] },
		retryPolicy: "idempotent",
		async run({ item }: { item: number }, { idempotencyKey }) {
			keys.set(item, (keys.get(item) ?? new Set()).add(idempotencyKey));
			for (let turn = 0; turn < item * 3; turn++) await new Promise((resolve) => setImmediate(resolve));
			if (item === 3) throw new Error("bad item");
			return item;
		},
	});
	return new Agent({
		model: scriptedModel((request) =>
			request.messages.length > 1 ? "Done." : { toolCalls: [{ name: "run_code", arguments: { code } }] },
		),
		tools: [codeMode({ tools: [work], sandbox })],
		host,
		maxRestarts: 100,
	});
}

/** Runs the script with workers that die, and returns the messages of the session. */
async function runWith(deaths: readonly Death[]): Promise<{ said: string; world: World; appends: number }> {
	const store = new DyingStore();
	const world: World = { keys: new Map() };
	for (const death of [...deaths, undefined]) {
		const { host, died } = store.worker(death);
		const worker = agentOn(host, world);
		const working = async (): Promise<string> => {
			const session = worker.session("s");
			if (store.journal.head("s") === undefined)
				await (await session.send("Go.", { dedupeKey: "once" })).result();
			else await worker.recover();
			return JSON.stringify((await session.state()).messages);
		};
		const said = await Promise.race([working(), died]);
		if (said !== "died") return { said, world, appends: store.appends };
	}
	throw new Error("no worker is left");
}

test("a script whose worker dies at any append ends as an undisturbed one, with one key per call", async () => {
	const { said, appends } = await runWith([]);
	expect(said).toMatch(result);
	expect(appends).toBeGreaterThan(8);
	for (let at = 1; at <= appends; at++)
		for (const when of ["before", "after"] as const) {
			const ended = await runWith([{ at, when }]);
			expect(ended.said, `death ${when} append ${at}`).toMatch(result);
			// The script calls the tool twice with each item.
			const keys = Array.from(ended.world.keys, ([item, used]) => [item, used.size]).sort();
			expect(keys, `death ${when} append ${at}`).toEqual([
				[0, 2],
				[1, 2],
				[2, 2],
				[3, 2],
			]);
		}
});
