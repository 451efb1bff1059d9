// Workflows that fail, and what they undo, refuse and report.
import { manualTime } from "@holdfast/testing";
import { HoldfastError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { DyingStore } from "../../../../test/shared/dying-host.fixture.ts";
import { type Host, memoryHost } from "../host/index.ts";
import type { Flow } from "./flow.ts";
import { type Workflow, workflow } from "./workflow.ts";

async function failure(
	run: (flow: Flow) => unknown,
): Promise<{ readonly code: string; readonly message: string } | undefined> {
	const failing = workflow({ name: "failing" }, run);
	const { error, outcome } = await (await failing.session("s").send(undefined)).result();
	expect(outcome).toBe("error");
	return error;
}

/** A store that refuses more than 5,000 characters. */
function limitedHost(): Host {
	const host = memoryHost();
	const { acquire } = host.journal;
	host.journal.acquire = async (...given) => {
		const acquired = await acquire.apply(host.journal, given);
		if (!acquired.ok) return acquired;
		const { lease } = acquired;
		const append = lease.append.bind(lease);
		lease.append = (batch) => {
			if (JSON.stringify(batch.facts).length > 5_000)
				throw new HoldfastError("value_too_large", "Too large.");
			return append(batch);
		};
		return acquired;
	};
	return host;
}

describe("a workflow that fails", () => {
	test("undoes its completed steps in reverse order, once, and names those that could not be undone", async () => {
		const undone: string[] = [];
		const book = (flow: Flow, name: string, fails = false) =>
			flow.step(name, () => `${name} booked`, {
				undo: (value) => {
					undone.push(value);
					if (fails) throw new Error("no");
				},
			});
		const code = async (flow: Flow, fails: boolean): Promise<void> => {
			await book(flow, "hotel");
			await book(flow.branch("travel"), "flight", fails);
			await flow.step(
				"pay",
				() => {
					throw Object.assign(new Error("The card was declined."), { code: "declined" });
				},
				{ undo: () => undone.push("pay") },
			);
		};
		expect(await failure((flow) => code(flow, false))).toMatchObject({ code: "declined" });
		expect(undone.splice(0)).toEqual(["flight booked", "hotel booked"]);
		const error = await failure((flow) => code(flow, true));
		expect(error).toMatchObject({
			code: "undo_failed",
			message: expect.stringMatching(/"flight".*declined/),
		});
		expect(undone).toEqual(["flight booked", "hotel booked"]);
	});

	test("undoes a step that starts while another one is undone", async () => {
		const undone: string[] = [];
		const gate = Promise.withResolvers<string>();
		const error = await failure(async (flow) => {
			await flow.step("hotel", () => "hotel", {
				async undo(value) {
					undone.push(value);
					gate.resolve("flight");
					await new Promise(setImmediate);
				},
			});
			const flight = flow.branch("flight");
			const book = (name: string): Promise<string> =>
				flight.step("flight", () => name, { undo: (value) => undone.push(value) });
			await Promise.all([
				flight.step("choose", () => gate.promise).then(book),
				flow.branch("car").step("car", () => {
					throw Object.assign(new Error("No car."), { code: "no_car" });
				}),
			]);
		});
		expect(error).toMatchObject({ code: "no_car" });
		expect(undone).toEqual(["hotel", "flight"]);
	});

	test("rejects inputs that its schema rejects, and results that do not match", async () => {
		const checked = workflow(
			{ name: "checked", input: z.object({ n: z.number() }), output: z.object({ n: z.number() }) },
			async (_, { n }) => ({ n: n === 1 ? n : ("one" as never) }),
		);
		await expect(checked.session("s").send({ n: "1" } as never)).rejects.toMatchObject({
			code: "invalid_input",
		});
		expect(await (await checked.session("s").send({ n: 1 })).result()).toMatchObject({ output: { n: 1 } });
		const invalid = await (await checked.session("s").send({ n: 2 })).result();
		expect(invalid).toMatchObject({ outcome: "error", error: { code: "workflow_output_invalid" } });
		// A message from a client that does not use the typed session.
		await expect(checked.session("t").session.send("{}")).rejects.toMatchObject({ code: "invalid_input" });
	});

	test("rejects values that cannot be stored", async () => {
		const code = (thrown: { code: string }): string => thrown.code;
		const stored = workflow({ name: "stored" }, async (flow) => [
			await flow.step("function", () => () => 1).catch(code),
			await flow.step("bytes", () => new Response() as unknown).catch(code),
			await flow.step("nothing", () => undefined),
			await flow.step("date", () => new Date(0)),
		]);
		expect((await (await stored.session("s").send(undefined)).result()).output).toEqual([
			"unserialisable_value",
			"unserialisable_value",
			null,
			"1970-01-01T00:00:00.000Z",
		]);
		const cyclic: Record<string, unknown> = {};
		cyclic.self = cyclic;
		await expect(stored.session("s").send(cyclic as never)).rejects.toMatchObject({ code: "invalid_input" });
		expect(await failure(() => () => 1)).toMatchObject({ code: "unserialisable_value" });
	});

	test("is reported if it awaits something other than its calls, once nothing else can happen", async () => {
		const time = manualTime();
		const stuck = workflow({ name: "stuck", ports: time.ports }, () => new Promise(() => {}));
		const run = await stuck.session("s").send(undefined);
		const result = run.result();
		await expect.poll(() => time.timers.size).toBe(1);
		time.pass(10_000);
		// Corrected code can continue it.
		expect(await result).toMatchObject({ outcome: "suspended", error: { code: "workflow_stuck" } });
		// Promises that do settle only delay it.
		const patient = workflow({ name: "patient" }, async (flow) => {
			await new Promise((resolve) => setTimeout(resolve, 5));
			return flow.step("after", () => 1);
		});
		expect((await (await patient.session("s").send(undefined)).result()).output).toBe(1);
	});

	test("rejects invalid arguments and options at the call", async () => {
		const make = (flow: Flow): readonly [string, Promise<unknown>][] => [
			["name", flow.step("", () => 1)],
			["function", flow.step("a", 1 as never)],
			["option", flow.step("a", () => 1, { retrys: 3 } as never)],
			["policy", flow.step("a", () => 1, { retryPolicy: "never" as never })],
			["retries", flow.step("a", () => 1, { retries: -1 })],
			["no retries", flow.step("a", () => 1, { retryDelay: 5 })],
			["reconcile", flow.step("a", () => 1, { retryPolicy: "pure", reconcile: () => undefined })],
			["undo", flow.step("a", () => 1, { undo: "it" as never })],
			["timeout", flow.step("a", () => 1, { timeout: "soon" })],
			["sleep", flow.sleep(-1)],
			["until", flow.until("some day")],
			["event", flow.event("")],
			["event timeout", flow.event("a", { timeout: Number.NaN })],
		];
		const refused = workflow({ name: "refused" }, async (flow) => {
			const codes: Record<string, string> = {};
			for (const [name, made] of make(flow))
				codes[name] = await made.then(
					() => "accepted",
					(error) => error.code,
				);
			return codes;
		});
		const { output } = await (await refused.session("s").send(undefined)).result();
		for (const [name, code] of Object.entries(output as Record<string, string>))
			expect([name, code]).toEqual([name, expect.stringMatching(/^invalid_(argument|option)$/)]);
		expect(() => workflow({} as never, async () => 1)).toThrow(/`name`/);
		for (const option of [
			"model",
			"temperature",
			"params",
			"instructions",
			"maxSteps",
			"plugins",
			"modelRetries",
		])
			expect(() => workflow({ name: "a", [option]: 1 } as never, async () => 1)).toThrow(
				expect.objectContaining({ code: "invalid_option", message: expect.stringContaining(option) }),
			);
		for (const [option, value] of [
			["input", 5],
			["output", null],
			["version", Number.NaN],
		] as const)
			expect(() => workflow({ name: "a", [option]: value } as never, async () => 1)).toThrow(
				expect.objectContaining({
					code: "invalid_option",
					message: expect.stringContaining(`\`${option}\` of workflow()`),
				}),
			);
		expect(() => workflow({ name: "a" }, 1 as never)).toThrow(/function/);
		await expect(refused.session("s").signal("late")).rejects.toMatchObject({ code: "workflow_not_running" });
		const { session } = refused.session("s");
		for (const sent of ["steer", "send", "start"] as const)
			await expect(session[sent]('{"event":"late"}')).rejects.toMatchObject({ code: "workflow_not_running" });
	});

	test("receives an error if the store refuses a result because of its size", async () => {
		const large = workflow({ name: "large", host: limitedHost() }, async (flow) => {
			const steps = [flow.step("large", () => "x".repeat(6_000)), flow.step("small", () => 1)];
			const [one, two] = await Promise.allSettled(steps);
			return [one, two].map((each) => (each?.status === "rejected" ? each.reason.message : each?.value));
		});
		expect((await (await large.session("s").send(undefined)).result()).output).toEqual([
			expect.stringMatching(/The result of the step "large#1" was not stored: Too large\./),
			1,
		]);
	});

	test("is suspended although the store refuses the last result because of its size", async () => {
		const host = limitedHost();
		const began = Promise.withResolvers<void>();
		const gate = Promise.withResolvers<string>();
		const make = () =>
			workflow({ name: "large", host }, (flow) => {
				const run = (): Promise<string> => {
					began.resolve();
					return gate.promise;
				};
				return flow.step("large", run).catch(({ message }) => message);
			});
		const first = make();
		const run = await first.session("s").send(undefined);
		await began.promise;
		const closing = first.close();
		gate.resolve("x".repeat(6_000));
		await closing;
		expect((await run.run.result()).outcome).toBe("suspended");
		const resumed = await make().session("s").session.resume();
		expect((await resumed?.result())?.output).toMatch(/"large#1" was not stored: Too large\./);
	});

	test("refuses middleware whose stages have no effect", async () => {
		const middleware = [{ name: "steps", begin: () => ({ stepAfter: () => {} }) }];
		const refused = workflow({ name: "refused", middleware: middleware as never }, () => 1);
		const { error } = await (await refused.session("s").send(undefined)).result();
		expect(error).toMatchObject({ code: "invalid_option", message: expect.stringContaining("stepAfter") });
	});

	test("times out a step, aborts its signal, and retries it only if that is safe", async () => {
		const aborted: unknown[] = [];
		const slow = workflow({ name: "slow" }, async (flow) => {
			const hangs = ({ signal, attempt }: { readonly signal: AbortSignal; readonly attempt: number }) =>
				attempt === 3
					? Promise.resolve(attempt)
					: new Promise<number>(() =>
							signal.addEventListener("abort", () => aborted.push(signal.reason.code)),
						);
			const options = { timeout: 5, retries: 2, retryDelay: 0 };
			const once = await flow.step("manual", hangs, options).catch((error) => error.code);
			return [once, await flow.step("idempotent", hangs, { ...options, retryPolicy: "idempotent" })];
		});
		expect((await (await slow.session("s").send(undefined)).result()).output).toEqual(["step_timeout", 3]);
		expect(aborted).toEqual(["step_timeout", "step_timeout", "step_timeout"]);
	});
});

describe("code that changed while a run was open", () => {
	type Code = (flow: Flow) => unknown;

	/** Leaves an open run that waits for `go`, and offers its session with other code. */
	async function leftOpen(before: Code): Promise<(code: Code) => Workflow> {
		const store = new DyingStore();
		const first = store.worker();
		const old = workflow({ name: "changing", version: 1, host: first.host }, before);
		await old.session("s").send(undefined);
		await expect.poll(async () => store.journal.read("s").at(-1)?.fact.kind).toBe("waiting");
		first.die();
		let version = 1;
		return (code) =>
			workflow({ name: "changing", version: ++version, host: store.worker().host }, code) as Workflow;
	}

	async function changed(before: Code, after: Code): Promise<unknown> {
		const now = (await leftOpen(before))(after);
		await now.session("s").signal("go");
		const result = await (await now.session("s").session.resume())?.result();
		return result?.output ?? result?.error;
	}

	const reserving = async (flow: Flow): Promise<unknown> => {
		await flow.step("reserve", () => 1);
		return flow.event("go");
	};

	test("parks the run with the expected call and the actual one; matching code continues it", async () => {
		const deploy = await leftOpen(reserving);
		const wrong = deploy(async (flow) => {
			await flow.step("check", () => 1);
			return reserving(flow);
		});
		await wrong.session("s").signal("go", "went");
		const explained = /the step "reserve#1" was expected, and the step "check#1" came/;
		// The event continued it, and it is parked with the error.
		const events: unknown[] = [];
		for await (const { event } of wrong.session("s").session.follow({ until: "never" })) {
			if (event.type !== "run_suspended") continue;
			events.push(event);
			break;
		}
		expect(events).toMatchObject([
			{ reason: "parked", error: { code: "code_diverged", message: expect.stringMatching(explained) } },
		]);
		await wrong.close();
		const stillWrong = deploy(() => "done");
		await expect(stillWrong.session("s").session.resume()).rejects.toMatchObject({
			code: "run_parked",
			message: expect.stringMatching(explained),
			data: { reason: "code-diverged" },
		});
		expect(await (await stillWrong.session("s").release())?.result()).toMatchObject({
			outcome: "suspended",
			error: { code: "code_diverged", message: expect.stringMatching(/the code ended/) },
		});
		await stillWrong.close();
		const guarded = deploy(async (flow) => {
			if (await flow.version("check")) await flow.step("check", () => 1);
			return reserving(flow);
		});
		expect(await (await guarded.session("s").release())?.result()).toMatchObject({
			outcome: "completed",
			output: "went",
		});
	});

	test("parks the run if the code never makes the next call on record", async () => {
		const time = manualTime();
		const deploy = await leftOpen(reserving);
		const silent = deploy(() => new Promise(() => {})).withOptions({ ports: time.ports });
		await silent.session("s").signal("go", "went");
		await expect.poll(() => time.timers.size).toBe(1);
		const left = (await silent.session("s").session.resume())?.result();
		time.pass(10_000);
		expect(await left).toMatchObject({
			outcome: "suspended",
			error: {
				code: "code_diverged",
				message: expect.stringMatching(/"reserve#1" was expected, and the code makes no call/),
			},
		});
		await silent.close();
		expect(await (await deploy(reserving).session("s").release())?.result()).toMatchObject({
			output: "went",
		});
	});

	test("guards the change with a version: open runs use the old code, new runs the new code", async () => {
		const code = async (flow: Flow): Promise<string> => {
			const isNew = await flow.version("check first");
			if (isNew) await flow.step("check", () => 1);
			await flow.step("reserve", () => 1);
			await flow.event("go");
			return isNew ? "new" : "old";
		};
		const old = async (flow: Flow): Promise<string> => {
			await flow.step("reserve", () => 1);
			await flow.event("go");
			return "old";
		};
		expect(await changed(old, code)).toBe("old");
		expect(await changed(code, code)).toBe("new");
	});
});

test("a workflow that returns while a step is running warns, and aborts the step", async () => {
	const warnings: string[] = [];
	let signal: AbortSignal | undefined;
	const leaving = workflow(
		{ name: "leaving", host: memoryHost(), onWarning: ({ code }) => void warnings.push(code) },
		async (flow) => {
			const hangs = flow.step("hangs", (context) => {
				signal = context.signal;
				return new Promise<never>(() => {});
			});
			return Promise.race([hangs, flow.sleep(1).then(() => "slept")]);
		},
	);
	expect((await (await leaving.session("s").send(undefined)).result()).output).toBe("slept");
	expect(warnings).toEqual(["workflow_left_steps"]);
	expect(signal?.aborted).toBe(true);
});
