// In development, unrecorded values in a workflow's code are reported with their line.
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { memoryHost } from "../host/index.ts";
import type { Flow } from "./flow.ts";
import { warnOfUnrecorded } from "./unrecorded.ts";
import { workflow } from "./workflow.ts";

async function warningsOf(...codes: readonly ((flow: Flow) => unknown)[]): Promise<readonly string[]> {
	const warnings: string[] = [];
	await Promise.all(
		codes.map(async (code, at) => {
			const onWarning = ({
				code: name,
				message,
			}: {
				readonly code?: unknown;
				readonly message: string;
			}): void => {
				if (name === "workflow_unrecorded") warnings.push(message);
			};
			const made = workflow({ name: `code ${at}`, host: memoryHost(), onWarning }, code);
			for (const key of ["one", "two"]) await (await made.session(key).send(undefined)).result();
		}),
	);
	return warnings;
}

describe("code of a workflow that uses unrecorded values", () => {
	test("is reported once for each line, with the line and what to use instead", async () => {
		onTestFinished(warnOfUnrecorded());
		const warnings = await warningsOf(async (flow) => {
			await flow.step("first", () => 1);
			const values = [
				Date.now(),
				new Date().toISOString(),
				Math.random(),
				crypto.randomUUID(),
				performance.now(),
			];
			clearTimeout(setTimeout(() => {}, 1_000));
			await flow.sleep(1);
			await flow.sleep(1).then(() => crypto.getRandomValues(new Uint8Array(1)));
			return values.length;
		});
		const used = [
			"Date.now",
			"new Date",
			"Math.random",
			"crypto.randomUUID",
			"performance.now",
			"setTimeout",
		];
		expect(warnings).toHaveLength(used.length + 1);
		for (const what of [...used, "crypto.getRandomValues"])
			expect(warnings).toContainEqual(
				expect.stringMatching(new RegExp(`"code 0" uses \`${what}\` .*unrecorded\\.test\\.ts:\\d+`)),
			);
	});

	test("is not reported for steps, values from arguments, the runtime, or code alongside", async () => {
		onTestFinished(warnOfUnrecorded());
		const model = scriptedModel(() => "said");
		const clean = async (flow: Flow): Promise<unknown> => {
			await flow.step("step", async () => {
				await new Promise((resolve) => setTimeout(resolve, 1));
				return [Date.now(), Math.random(), crypto.randomUUID(), new Date()];
			});
			await flow.model(model, "Say.");
			return [await flow.now(), await flow.random(), await flow.uuid(), new Date(0).getTime()];
		};
		const ticking = setInterval(() => Math.random() + Date.now(), 1);
		const warnings = await warningsOf(clean, clean, async (flow) => {
			await flow.sleep(5);
			return Math.random();
		});
		clearInterval(ticking);
		expect(warnings).toEqual([expect.stringMatching(/"code 2" uses `Math.random`/)]);
	});

	test("is not reported before it is switched on, nor afterwards", async () => {
		const before = [Date, Math.random, globalThis.fetch, globalThis.setTimeout] as const;
		warnOfUnrecorded()();
		expect([Date, Math.random, globalThis.fetch, globalThis.setTimeout]).toEqual(before);
		expect(await warningsOf(() => Math.random())).toEqual([]);
	});
});
