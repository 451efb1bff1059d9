// The operations that call models and child workflows, write logs and publish state.
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { DyingStore } from "../../../../test/shared/dying-host.fixture.ts";
import { type Host, memoryHost } from "../host/index.ts";
import { budget } from "../policy/middleware/budget.ts";
import { outputsOfAll } from "./crashes.fixture.ts";
import type { Flow } from "./flow.ts";
import { type Workflow, type WorkflowOptions, workflow } from "./workflow.ts";

async function outputOf(
	run: (flow: Flow) => unknown,
	options: Partial<WorkflowOptions> = {},
): Promise<unknown> {
	const made = workflow({ name: "made", host: memoryHost(), ...options }, run);
	const { output, error } = await (await made.session("s").send(undefined)).result();
	return output ?? error;
}

describe("a model call", () => {
	test("returns text, or the answer that the schema validates, and its usage counts", async () => {
		const model = scriptedModel(["Hello.", '{"n":"one"}', '{"n":1}']);
		const used = workflow({ name: "used", host: memoryHost() }, async (flow) => [
			await flow.model(model, "Greet.", { instructions: "Be brief." }),
			await flow.model(model, "Count.", { output: z.object({ n: z.number() }) }),
		]);
		const run = await used.session("s").send(undefined);
		expect((await run.result()).output).toEqual(["Hello.", { n: 1 }]);
		expect(model.requests).toHaveLength(3);
		expect(model.requests[0]?.system).toBe("Be brief.");
		expect((await run.run.result()).usage.totalTokens).toBeGreaterThan(0);
	});

	test("is refused once a budget is used up, and passes the middleware around model calls", async () => {
		const model = scriptedModel(["one", "two"]);
		const seen: unknown[] = [];
		const watch = {
			name: "watch",
			begin: () => ({
				modelCall: (
					about: { readonly tag: string; readonly modelId: string },
					next: () => Promise<never>,
				) => {
					seen.push(about.tag);
					return next();
				},
			}),
		};
		const output = await outputOf(
			async (flow) => [
				await flow.model(model, "One."),
				await flow.model(model, "Two.").catch(({ code, message }) => `${code} ${message}`),
			],
			{ middleware: [budget({ maxTokens: 1 }), watch as never] },
		);
		expect(output).toEqual(["one", expect.stringMatching(/^tool_call_failed.*policy/)]);
		expect(seen).toEqual(["code"]);
		expect(model.requests).toHaveLength(1);
	});

	test("is made again after a crash during it, and is never lost or doubled in the record", async () => {
		const outputs = await outputsOfAll((host) =>
			workflow({ name: "made", host }, async (flow) => {
				const model = scriptedModel(() => "said");
				return [await flow.model(model, "One."), await flow.model(model, "Two.", { name: "two" })];
			}),
		);
		expect(outputs.length).toBeGreaterThan(8);
		for (const output of outputs) expect(output).toEqual(["said", "said"]);
	});

	test("is made again after a crash, also if the code awaits something else before it", async () => {
		const outputs = await outputsOfAll((host) =>
			workflow({ name: "made", host }, async (flow) => {
				const model = scriptedModel(() => "said");
				const prompt = await new Promise<string>((resolve) => setTimeout(() => resolve("One."), 5));
				return flow.model(model, prompt);
			}),
		);
		expect(outputs.length).toBeGreaterThan(6);
		for (const output of outputs) expect(output).toBe("said");
	});

	test("refuses invalid arguments", async () => {
		const model = scriptedModel([]);
		const codes = await outputOf(async (flow) => {
			const code = (error: { readonly code: string }): string => error.code;
			return [
				await flow.model(model, "").catch(code),
				await flow.model(model, "a", { temperature: 1 } as never).catch(code),
				await flow.model(model, "a", { name: "" }).catch(code),
			];
		});
		expect(codes).toEqual(["invalid_argument", "invalid_option", "invalid_argument"]);
	});
});

describe("log and state", () => {
	test("are recorded once, also without being awaited, and the state is read from any process", async () => {
		const store = new DyingStore();
		const made = (host: Host): Workflow<unknown> =>
			workflow({ name: "made", host }, async (flow) => {
				await flow.log("started", { by: "Ada" });
				await flow.state({ done: 1 });
				await flow.event("go");
				void flow.state({ done: 2 });
				void flow.log("ended");
				return "ended";
			}) as Workflow<unknown>;
		const first = store.worker();
		const one = made(first.host).session("s");
		expect(await one.state()).toBeUndefined();
		await (await one.send(undefined)).run.result();
		expect(await one.state()).toEqual({ done: 1 });
		first.die();
		const two = made(store.worker().host).session("s");
		expect(await two.state()).toEqual({ done: 1 });
		await two.signal("go");
		await (await two.session.resume())?.result();
		expect(await two.state()).toEqual({ done: 2 });
		expect(await made(store.worker().host).session("s").state()).toEqual({ done: 2 });
		const logs = store.journal
			.read("s")
			.flatMap(({ fact }) => (fact.kind === "note" && fact.topic === "workflow-log" ? [fact.value] : []));
		expect(logs).toEqual([
			{ id: "log#1", message: "started", data: { by: "Ada" } },
			{ id: "log#2", message: "ended" },
		]);
	});

	test("refuse what is not JSON", async () => {
		const codes = await outputOf(async (flow) => {
			const code = (error: { readonly code: string }): string => error.code;
			return [
				await flow.log("").catch(code as never),
				await flow.log("a", () => 1).catch(code as never),
				await flow.state(new Response()).catch(code as never),
			];
		});
		expect(codes).toEqual(["invalid_argument", "unserialisable_value", "unserialisable_value"]);
	});
});

describe("child workflows", () => {
	const host = memoryHost;
	const half = (on: Host) =>
		workflow({ name: "half", host: on, input: z.object({ of: z.number() }) }, async (flow, { of }) => {
			if (of === 13) throw Object.assign(new Error("Unlucky."), { code: "unlucky" });
			await flow.step("think", () => of, { retryPolicy: "idempotent" });
			await flow.sleep(1);
			return { half: of / 2 };
		});

	test("return their results, one by one and at the same time, with their failures", async () => {
		const on = host();
		const child = half(on);
		const output = await outputOf(
			async (flow) => {
				const spawned = flow.spawn(child, { of: 20 });
				const [a, b] = await Promise.all([flow.child(child, { of: 4 }), flow.child(child, { of: 6 })]);
				const failed = await flow.child(child, { of: 13 }).catch((error) => error.message);
				return [a.half, b.half, failed, (await spawned.result()).half];
			},
			{ host: on, workflows: [child] },
		);
		expect(output).toEqual([2, 3, expect.stringMatching(/Unlucky/), 10]);
	});

	test("survive the death of the worker at any append", async () => {
		const outputs = await outputsOfAll((on) => {
			const child = half(on);
			return workflow({ name: "parent", host: on, workflows: [child], maxRestarts: 100 }, async (flow) => {
				const spawned = flow.spawn(child, { of: 20 });
				const one = await flow.child(child, { of: 4 });
				return [one.half, (await spawned.result()).half];
			});
		});
		expect(outputs.length).toBeGreaterThan(10);
		for (const output of outputs) expect(output).toEqual([2, 10]);
	});

	test("wait for approvals that the parent lists, and are cancelled one by one or with the parent", async () => {
		const on = host();
		const asks = workflow({ name: "asks", host: on }, (flow, name: string) => flow.approve(name));
		const parent = workflow({ name: "parent", host: on, workflows: [asks] }, async (flow) => {
			const [one, two] = [flow.spawn(asks, "one"), flow.spawn(asks, "two")];
			await flow.event("cancel");
			await two.cancel();
			const second = await two.result().catch((error) => error.code);
			return [await one.result(), second];
		});
		const session = parent.session("s");
		const run = await session.send(undefined);
		await expect.poll(async () => (await session.session.pending()).length).toBe(2);
		await session.signal("cancel");
		await expect.poll(async () => (await session.session.pending()).length).toBe(1);
		const [call] = await session.session.pending();
		expect(call?.arguments).toMatchObject({ name: "one" });
		(await session.session.answer([{ toolCallId: call?.toolCallId as string, approved: true }])).detach();
		expect((await run.result()).output).toEqual([true, "tool_call_failed"]);
		const stopped = parent.session("t");
		const second = await stopped.send(undefined);
		await expect.poll(async () => (await stopped.session.pending()).length).toBe(2);
		await stopped.stop();
		expect((await second.result()).outcome).toBe("aborted");
		expect(await stopped.session.pending()).toEqual([]);
	});

	test("are cancelled right after they are spawned, also if middleware takes its time with their calls", async () => {
		const on = host();
		const waits = workflow({ name: "waits", host: on }, (flow) => flow.sleep("1 hour"));
		const slow = {
			name: "slow",
			begin: () => ({ toolCall: () => new Promise<void>((resolve) => setImmediate(resolve)) }),
		};
		const output = await outputOf(
			async (flow) => {
				const child = flow.spawn(waits, undefined);
				await child.cancel();
				return child.result().catch((error) => error.code);
			},
			{ host: on, workflows: [waits], middleware: [slow as never] },
		);
		expect(output).toBe("tool_call_failed");
	});

	test("that are open when the code ends park the run, and corrected code continues it", async () => {
		const store = new DyingStore();
		const made = (isRight: boolean) => {
			const { host: on } = store.worker();
			const child = workflow({ name: "child", host: on }, (flow) => flow.event("go"));
			return workflow({ name: "parent", host: on, workflows: [child] }, async (flow) => {
				const spawned = flow.spawn(child, undefined);
				await flow.step("work", () => 1);
				if (isRight) await spawned.cancel();
				return "done";
			});
		};
		const wrong = made(false);
		const run = await wrong.session("s").send(undefined);
		expect(await run.result()).toMatchObject({
			outcome: "suspended",
			error: { code: "workflow_open_children", message: expect.stringMatching(/child#1.*cancel\(\)/) },
		});
		await wrong.close();
		const right = made(true).session("s");
		expect(await (await right.release())?.result()).toMatchObject({ outcome: "completed", output: "done" });
	});

	test("are cancelled if the code throws, whose error ends the run", async () => {
		const store = new DyingStore();
		const { host: on } = store.worker();
		const asks = workflow({ name: "asks", host: on }, (flow) => flow.approve("pay"));
		const parent = workflow({ name: "parent", host: on, workflows: [asks] }, async (flow) => {
			flow.spawn(asks, undefined);
			await flow.event("fail");
			throw Object.assign(new Error("Unlucky."), { code: "unlucky" });
		});
		const session = parent.session("s");
		const run = await session.send(undefined);
		await expect.poll(async () => (await session.session.pending()).length).toBe(1);
		await session.signal("fail");
		expect(await run.result()).toMatchObject({ outcome: "error", error: { code: "unlucky" } });
		const ended = async (): Promise<number> => {
			const heads = await store.journal.list({});
			const facts = heads.flatMap(({ key }) => store.journal.read(key).map(({ fact }) => fact.kind));
			return facts.filter((kind) => kind === "run.ended").length;
		};
		await expect.poll(ended).toBe(2);
	});

	test("are refused if they are not the workflow's, or are no workflows", async () => {
		const child = half(host());
		const output = await outputOf(async (flow) => [
			await flow.child(child, { of: 1 }).catch((error) => error.code),
			await flow.child({} as never, 1).catch((error) => error.code),
		]);
		expect(output).toEqual(["tool_call_failed", "invalid_argument"]);
		expect(() => workflow({ name: "a", workflows: [{}] as never }, () => 1)).toThrow(/`workflows`/);
	});
});
