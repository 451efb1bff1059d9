// Workflows: durable steps, waits, events, and their runs across processes.
import { describe, expect, test } from "vitest";
import { memoryHost } from "../host/index.ts";
import { workflow } from "./workflow.ts";

describe("a workflow", () => {
	test("runs its function with the input and returns its result", async () => {
		const double = workflow({ name: "double" }, async (flow, { n }: { n: number }) => {
			const doubled = await flow.step("double", () => n * 2);
			return { doubled };
		});
		const run = await double.session("s").send({ n: 21 });
		expect(await run.result()).toEqual({
			runId: run.runId,
			outcome: "completed",
			output: { doubled: 42 },
		});
		await double.close();
	});

	test("sleeps without a process and continues", async () => {
		const host = memoryHost();
		let starts = 0;
		const sleepy = workflow({ name: "sleepy", host }, async (flow) => {
			starts++;
			const before = await flow.now();
			await flow.sleep(20);
			return (await flow.now()) - before;
		});
		const run = await sleepy.session("s").send(undefined);
		const result = await run.result();
		expect(result.outcome).toBe("completed");
		expect(result.output).toBeGreaterThanOrEqual(20);
		// On a busy machine, the time may come before the run is left.
		expect([1, 2]).toContain(starts);
	});

	test("receives events, in the order of the calls that wait for them", async () => {
		const host = memoryHost();
		const talk = workflow({ name: "talk", host }, async (flow) => {
			const first = await flow.event("reply");
			const second = await flow.event<{ n: number }>("reply", { timeout: "1 hour" });
			const none = await flow.event("never", { timeout: 1 });
			return [first, second, none === undefined];
		});
		const session = talk.session("s");
		const run = await session.send(undefined);
		await session.signal("reply", "one");
		await session.signal("reply", { n: 2 });
		expect(await run.result()).toMatchObject({ outcome: "completed", output: ["one", { n: 2 }, true] });
	});

	test("resolves its result after a wait that another caller ends later", async () => {
		const waits = workflow({ name: "waits", host: memoryHost() }, (flow) => flow.event("go"));
		const run = await waits.session("s").send(undefined);
		const result = run.result();
		expect((await run.run.result()).outcome).toBe("waiting");
		await new Promise((resolve) => setImmediate(resolve));
		await waits.session("s").signal("go", 1);
		expect(await result).toMatchObject({ outcome: "completed", output: 1 });
	});

	test("retries a step, and gives the code its last error", async () => {
		let attempts = 0;
		const flaky = workflow({ name: "flaky" }, async (flow) => {
			const value = await flow.step(
				"try",
				({ attempt }) => {
					attempts++;
					if (attempt < 3) throw new Error(`no ${attempt}`);
					return attempt;
				},
				{ retries: 2, retryDelay: 5 },
			);
			const error = await flow
				.step("fail", () => {
					throw Object.assign(new Error("Full."), { code: "disk_full" });
				})
				.catch((thrown) => ({ code: thrown.code, message: thrown.message }));
			return { value, error };
		});
		const run = await flaky.session("s").send(undefined);
		expect(await run.result()).toMatchObject({
			output: { value: 3, error: { code: "disk_full", message: "Full." } },
		});
		expect(attempts).toBe(3);
	});
});
