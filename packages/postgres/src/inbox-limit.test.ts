// The limit of waiting inputs for one session on Postgres, whose routines keep the count.
import { scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { Agent } from "holdfast";
import { expect, test } from "vitest";
import { postgresHost } from "./index.ts";
import { reusedStores } from "./reused-store.fixture.ts";
import { testServer } from "./test-server.fixture.ts";

const storeOf = reusedStores(testServer);

test("a full inbox rejects inputs of every process until a run has delivered some", async () => {
	const { schema, pool, leave } = await storeOf();
	const hosts = [0, 1].map((at) => postgresHost({ pool: pool(at), schema }));
	const [first, second] = hosts.map((host) => new Agent({ model: scriptedModel(() => "Noted."), host }));
	const full = { code: "inbox_full", retryable: true };
	const add = (agent: Agent | undefined) =>
		agent?.session("s").edit({ kind: "add", message: new UserMessage("x") });
	const host = hosts[0];
	const input = { kind: "edit", body: { edit: "delete", messageId: "none" } } as const;
	const inputs = Array.from({ length: 1_000 }, (_, at) => ({ ...input, id: `i${at}` }));
	await Promise.all(inputs.map((each) => host?.journal.submit("s", each)));
	for (const agent of [first, second]) {
		// A process asks the store at least once in 50 inputs.
		const refused: unknown[] = [];
		for (let at = 0; at < 51; at++) await add(agent)?.catch((error) => refused.push(error));
		expect(refused).toEqual([expect.objectContaining(full)]);
	}
	await (await first?.session("s").send("Go."))?.result();
	await add(first);
	expect((await first?.session("s").state())?.messages).toHaveLength(102);
	for (const agent of [first, second]) await agent?.close();
	for (const each of hosts) await each.close();
	await leave();
});
