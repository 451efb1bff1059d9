// The contract suites of hosts, over the storage of Durable Objects in the real runtime.
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, test } from "vitest";
import { casesOf } from "./contract-worker.fixture.ts";
import { bundleWorker, startWorkerd } from "./workerd.fixture.ts";

let runtime: Miniflare;

beforeAll(async () => {
	const script = await bundleWorker("contract-worker.fixture.ts");
	runtime = startWorkerd({ script, objects: { CASES: "Cases" } });
	await runtime.ready;
});

afterAll(() => runtime.dispose());

for (const suite of ["journal", "host", "execution"]) {
	// Only their names are read here.
	for (const [index, { name }] of casesOf(suite, undefined as never).entries()) {
		test(`${suite}: ${name}`, async () => {
			const answer = await runtime.dispatchFetch("http://localhost/", {
				method: "POST",
				body: JSON.stringify({ suite, index }),
			});
			expect(await answer.json()).toEqual({ ok: true });
		});
	}
}
