// Workflows: durable steps, waits, events, and their runs across processes.
import { describe, expect, test } from "vitest";
import { DyingStore } from "../../../../test/shared/dying-host.fixture.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/index.ts";
import type { Journal } from "../host/journal.ts";
import { memoryJournal } from "../host/memory-journal.ts";
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
		expect(starts).toBe(1);
	});

	test("runs its code once in a living process, however often it waits, and reads each record once", async () => {
		const journal = memoryJournal();
		let read = 0;
		const counted: Journal = {
			...journal,
			read(key, options) {
				const entries = journal.read(key, options);
				read += entries.length;
				return entries;
			},
		};
		let starts = 0;
		const waits = workflow({ name: "waits", host: journalHost(counted) }, async (flow) => {
			starts++;
			const heard: unknown[] = [];
			for (let count = 0; count < 50; count++) {
				await flow.sleep(1);
				await flow.step("tick", () => count, { retries: 1, retryDelay: 1 });
				heard.push(await flow.event("tick", { timeout: 1 }));
			}
			return heard.length;
		});
		const run = await waits.session("s").send(undefined);
		expect(await run.result()).toMatchObject({ outcome: "completed", output: 50 });
		expect(starts).toBe(1);
		const { length } = journal.read("s");
		expect(length).toBeGreaterThan(400);
		expect(read).toBeLessThan(3 * length);
	});

	test("runs its code again if another process continued the run in the meantime", async () => {
		const store = new DyingStore();
		const starts: string[] = [];
		const make = (name: string) =>
			workflow({ name: "shared", host: store.worker().host }, async (flow) => {
				starts.push(name);
				const events = [await flow.event("first"), await flow.event("second")];
				const step = await flow.step("step", () => name);
				return [...events, step, await flow.event("third")];
			});
		const waited = (times: number): Promise<void> =>
			expect
				.poll(() => store.journal.read("s").filter(({ fact }) => fact.kind === "waiting").length)
				.toBe(times);
		const [one, two] = [make("one"), make("two")];
		const run = await one.session("s").send(undefined);
		await waited(1);
		await one.session("s").signal("first", 1);
		await waited(2);
		await two.session("s").signal("second", 2);
		await waited(3);
		await one.session("s").signal("third", 3);
		expect(await run.result()).toMatchObject({ outcome: "completed", output: [1, 2, "two", 3] });
		expect(starts).toEqual(["one", "two", "one"]);
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

	test("receives an event once that is sent again with its dedupe key", async () => {
		const host = memoryHost();
		const talk = workflow({ name: "talk", host }, async (flow) => [
			await flow.event("reply"),
			await flow.event("reply", { timeout: 20 }),
		]);
		const session = talk.session("s");
		const run = await session.send(undefined);
		await session.signal("reply", "one", { dedupeKey: "k" });
		await session.signal("reply", "one", { dedupeKey: "k" });
		expect(await run.result()).toMatchObject({ outcome: "completed", output: ["one", null] });
		await expect(session.signal("reply", "late")).rejects.toMatchObject({ code: "workflow_not_running" });
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
