// Steps that are still running when the code throws are undone once they have completed.
import { runWorkflow } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { memoryHost } from "../host/index.ts";
import type { Flow } from "./flow.ts";
import { workflow } from "./workflow.ts";

const declined = (): never => {
	throw Object.assign(new Error("Declined."), { code: "declined", retryable: false });
};

/** Books a hotel that takes until `booked`, while the car fails; records what is done and undone. */
function trip(done: string[], booked: () => unknown) {
	return async (flow: Flow): Promise<void> => {
		const book = async (name: string, run: () => unknown): Promise<void> => {
			await flow.step(
				name,
				async () => {
					await run();
					done.push(name);
				},
				{ retryPolicy: "idempotent", undo: () => void done.push(`undo ${name}`) },
			);
		};
		await book("flight", () => 1);
		await Promise.all([
			book("hotel", booked).then(() => book("tour", () => 1)),
			flow.step("car", declined, { retryPolicy: "idempotent" }),
		]);
	};
}

describe("a step that is running when the code throws", () => {
	test("is awaited and undone, with the steps that follow it", async () => {
		const done: string[] = [];
		const warnings: string[] = [];
		let free = (): void => {};
		const held = new Promise<void>((resolve) => {
			free = resolve;
		});
		const made = workflow(
			{ name: "trip", host: memoryHost(), onWarning: ({ code }) => void warnings.push(code) },
			trip(done, () => held),
		);
		const run = await made.session("s").send(undefined);
		await new Promise((resolve) => setImmediate(resolve));
		free();
		expect(await run.result()).toMatchObject({ outcome: "error", error: { code: "declined" } });
		expect(done.slice(0, 2)).toEqual(["flight", "hotel"]);
		expect(done.indexOf("undo tour")).toBeGreaterThan(done.indexOf("tour"));
		expect(done.slice(2).toSorted()).toEqual(["tour", "undo flight", "undo hotel", "undo tour"]);
		expect(done.at(-1)).toBe("undo flight");
		expect(warnings).toEqual([]);
	});

	test("is undone also if the worker dies at any append", async () => {
		const made = (done: string[]) =>
			workflow(
				{ name: "trip", host: memoryHost() },
				trip(done, () => undefined),
			);
		const { appends, error } = await runWorkflow(made([]), undefined);
		expect(error?.code).toBe("declined");
		for (let at = 1; at <= appends; at++)
			for (const when of ["before", "after"] as const) {
				const done: string[] = [];
				const crashed = await runWorkflow(made(done), undefined, { crash: { at, when } });
				expect(crashed.error?.code).toBe("declined");
				for (const name of ["flight", "hotel", "tour"])
					expect(done.lastIndexOf(`undo ${name}`)).toBeGreaterThan(done.lastIndexOf(name));
			}
	});

	test("is not undone if it fails", async () => {
		const done: string[] = [];
		const made = workflow({ name: "trip", host: memoryHost() }, trip(done, declined));
		expect((await (await made.session("s").send(undefined)).result()).error?.code).toBe("declined");
		expect(done).toEqual(["flight", "undo flight"]);
	});
});
