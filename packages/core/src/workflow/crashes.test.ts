// A workflow continues after the death of its worker at any append, and performs each step as its retry policy allows.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DyingStore, type DyingWorker } from "../../../../test/shared/dying-host.fixture.ts";
import { programs } from "../replayer/program.fixture.ts";
import { differencesAfterDeaths, runToEnd } from "./crashes.fixture.ts";
import { workflow } from "./workflow.ts";

describe("a workflow whose worker dies", () => {
	test("ends with a result that its record repeats, regardless of the append at which its worker dies", async () => {
		await fc.assert(
			fc.asyncProperty(programs, fc.nat(), async (program, seed) => {
				expect(await differencesAfterDeaths(program, seed)).toEqual([]);
			}),
			{ numRuns: 6 },
		);
	});

	test("gives the code an error for a step that must not be repeated, and its outcome if that can be determined", async () => {
		const entered: string[] = [];
		const make = (host: DyingWorker["host"], isFirst: boolean) =>
			workflow({ name: "pay", host }, async (flow) => {
				const pay = (name: string) => () => {
					entered.push(name);
					return isFirst ? new Promise<never>(() => {}) : `paid ${name}`;
				};
				return Promise.all([
					flow.step("a", pay("a")).catch((error) => error.code),
					flow.step("b", pay("b"), { reconcile: () => ({ result: "found" }) }),
					flow.step("c", pay("c"), { reconcile: () => ({ retry: true }) }),
					flow.step("d", pay("d"), { retryPolicy: "idempotent" }),
				]);
			});
		const store = new DyingStore();
		const first = store.worker();
		const run = await make(first.host, true).session("s").send(undefined);
		void run.result();
		await expect.poll(() => entered.length).toBe(4);
		const second = store.worker();
		first.die();
		const result = await runToEnd(make(second.host, false));
		expect(result).toMatchObject({
			outcome: "completed",
			output: ["step_outcome_unknown", "found", "paid c", "paid d"],
		});
		expect(entered).toEqual(["a", "b", "c", "d", "d", "c"]);
	});
});
