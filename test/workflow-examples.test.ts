// The examples of durable code: each runs as its page describes, and ends the same way if its worker dies at any append.
import { join } from "node:path";
import { runWorkflow } from "@holdfast/testing";
import type { Workflow } from "holdfast/workflow";
import { describe, expect, test } from "vitest";
import { research } from "../examples/fan-out-research/research.ts";
import { review } from "../examples/human-review/review.ts";
import { onboarding, outbox } from "../examples/onboarding/onboarding.ts";
import { ledger, order } from "../examples/order-saga/order.ts";
import { runCommand } from "../tools/run-command.ts";
import { temporaryFolder } from "./shared/temporary-folder.fixture.ts";

const root = join(import.meta.dirname, "..");

async function runs(file: string, folder: string, ...words: readonly string[]): Promise<string> {
	const command = [
		process.execPath,
		"--conditions=holdfast-source",
		"--no-warnings",
		join(root, "examples", file),
	];
	const { code, output } = await runCommand([...command, ...words] as [string, ...string[]], {
		folder,
		timeout: 100_000,
	});
	expect(code, output).toBe(0);
	return output;
}

/** Runs the workflow with a worker that dies at each append, and checks the end of each run. */
async function diesEverywhere<Input, Output>(
	workflow: Workflow<Input, Output>,
	input: Input,
	{ check, ...options }: Parameters<typeof runWorkflow>[2] & { check(): void },
): Promise<void> {
	const { output, error, appends } = await runWorkflow(workflow, input, options);
	check();
	for (let at = 1; at <= appends; at++)
		for (const when of ["before", "after"] as const) {
			const crashed = await runWorkflow(workflow, input, { ...options, crash: { at, when } });
			expect(crashed, `death ${when} append ${at}`).toMatchObject({
				...(output === undefined ? {} : { output }),
				...(error === undefined ? {} : { error: { code: error.code } }),
			});
			check();
		}
}

describe("onboarding", () => {
	test("waits for days, and reminds only customers without a project", async () => {
		const output = await runs("onboarding/main.ts", temporaryFolder());
		expect(output).toContain("Ada: 7 days, project: engine");
		expect(output).toContain("Bob: 10 days, project: none");
		expect(output.match(/your first project is waiting/g)).toHaveLength(1);
	});

	test("sends each mail once, whichever append its worker dies at", async () => {
		await diesEverywhere(
			onboarding,
			{ name: "Bob", email: "b@example.com" },
			{
				check() {
					expect([...outbox.values()]).toHaveLength(3);
					outbox.clear();
				},
			},
		);
	});
});

describe("order-saga", () => {
	test("undoes the completed steps of an order that cannot be shipped", async () => {
		const output = await runs("order-saga/main.ts", temporaryFolder());
		expect(output).toContain("order-PT: completed\n  reserved lamp\n  charged 40\n  shipped lamp\n");
		expect(output).toMatch(
			/order-XX: error.*\n {2}reserved lamp\n {2}charged 40\n {2}refunded 40\n {2}released lamp\n/,
		);
	});

	test("refunds once, whichever append its worker dies at", async () => {
		await diesEverywhere(
			order,
			{ id: "o", item: "lamp", euros: 40, country: "XX" },
			{
				check() {
					expect([...ledger.values()]).toEqual([
						"reserved lamp",
						"charged 40",
						"refunded 40",
						"released lamp",
					]);
					ledger.clear();
				},
			},
		);
	});
});

test("fan-out-research asks twenty agents, and those that have answered only once", async () => {
	expect(await runs("fan-out-research/main.ts", temporaryFolder())).toBe(
		"20 findings. The last one: Topic 20 has 400 sources.\n",
	);
	await diesEverywhere(research, { topics: 3 }, { check() {} });
});

describe("human-review", () => {
	test("drafts until a person accepts, each command in a process of its own", async () => {
		const folder = temporaryFolder();
		const file = "human-review/main.ts";
		expect(await runs(file, folder, "start", "our lamps")).toBe(
			"Waits for review: Draft 1 about our lamps\n",
		);
		expect(await runs(file, folder, "change", "name the price")).toBe(
			"Waits for review: Draft 2 about our lamps, with: name the price\n",
		);
		expect(await runs(file, folder, "accept")).toContain("Draft 2 about our lamps, with: name the price");
		expect(await runs(file, folder, "accept")).toBe("No draft waits.\n");
	});

	test("ends after five rejected drafts", async () => {
		const answer = () => ({ accepted: false, wish: "shorter" });
		const { error } = await runWorkflow(review, { topic: "lamps" }, { answer });
		expect(error?.message).toContain("Five drafts");
	});
});

test("code-mode answers with 16 calls of 50 tools in three model calls", async () => {
	expect(await runs("code-mode/main.ts", temporaryFolder())).toBe(
		"5 invoices are open, 350 euros in total.\n50 tools, 3 model calls, 16 tool calls\n",
	);
});
