// The examples of durable code: each runs as its page describes, and ends the same way if its worker dies at any append.
import { readFileSync } from "node:fs";
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

/** What the page of the example says that it prints. */
function shown(example: string): string {
	const page = readFileSync(join(root, "examples", example, "README.md"), "utf8");
	return /```text\n([\s\S]*?)```/.exec(page)?.[1] ?? "its page shows no output";
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
		expect(await runs("onboarding/main.ts", temporaryFolder())).toBe(shown("onboarding"));
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
		expect(await runs("order-saga/main.ts", temporaryFolder())).toBe(shown("order-saga"));
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
	expect(await runs("fan-out-research/main.ts", temporaryFolder())).toBe(shown("fan-out-research"));
	await diesEverywhere(research, { topics: 3 }, { check() {} });
});

describe("human-review", () => {
	test("drafts until a person accepts, each command in a process of its own", async () => {
		const folder = temporaryFolder();
		const review = (...words: readonly string[]) => runs("human-review/main.ts", folder, ...words);
		const first = await review("start", "our new lamps");
		expect(await review("start", "chairs")).toBe(
			`A draft waits already. Change or accept it first.\n${first}`,
		);
		const others = [await review("change", "mention the price"), await review("accept")];
		expect(first + others.join("")).toBe(shown("human-review"));
		expect(await review("accept")).toBe("No draft waits.\n");
	});

	test("reports the end of a review without an accepted draft", async () => {
		const folder = temporaryFolder();
		const review = (...words: readonly string[]) => runs("human-review/main.ts", folder, ...words);
		await review("start", "lamps");
		for (let at = 1; at < 5; at++) await review("change", "shorter");
		expect(await review("change", "shorter")).toBe("Ended: Five drafts were not accepted.\n");
	});

	test("ends after five rejected drafts", async () => {
		const answer = () => ({ accepted: false, wish: "shorter" });
		const { error } = await runWorkflow(review, { topic: "lamps" }, { answer });
		expect(error?.message).toContain("Five drafts");
	});
});

test("code-mode answers with 16 calls of 50 tools in three model calls", async () => {
	expect(await runs("code-mode/main.ts", temporaryFolder())).toBe(shown("code-mode"));
});
