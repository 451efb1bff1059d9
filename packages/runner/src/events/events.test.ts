// Events on record: what is kept cannot be changed unnoticed, and a run can be run again from it.
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inMemoryClient } from "@holdfast/memory";
import { afterAll, describe, expect, test, vi } from "vitest";
import { configured, echo, finish, use } from "../agent/agent.fixture.ts";
import { RunnerAgent } from "../agent/index.ts";
import type {
	AgentConfig,
	AgentResult,
	EventStore,
	PolicyDecision,
	PolicyQuestion,
	RunnerEvent,
	RunnerStep,
	RunnerTool,
	RunOptions,
} from "../contract/index.ts";
import { stubClient } from "../harness/index.ts";
import { snapshot } from "../harness/snapshot.ts";
import { stepsPlanner } from "../loop/index.ts";
import { EventComparer, fileEventStore, memoryEventStore } from "./index.ts";

const home = mkdtempSync(join(tmpdir(), "holdfast-events-"));
afterAll(() => rmSync(home, { recursive: true }));

let folders = 0;
function fileStore() {
	const folder = join(home, `store-${++folders}`);
	return {
		folder,
		store: fileEventStore(folder),
		file: () => join(folder, readdirSync(folder)[0] as string),
	};
}

const steps = [use("echo", 1), { type: "message", message: "so far" }, finish] as const;

/** What stays the same of a result when it is run again. */
function essence(result: AgentResult): string {
	const { eventStream: _, metrics: __, ...rest } = result;
	return snapshot(rest);
}

describe("a store", () => {
	test("has each event of a run, without a way to change or remove one [RUN-141] [RUN-026]", async () => {
		const { store } = fileStore();
		const result = await new RunnerAgent(configured(steps, { eventStore: store })).runOnce();
		expect(result.eventStream).toBe(`events:${result.id}`);
		const events = await store.read(result.id);
		expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
		expect(events[0]?.type).toBe("run.start");
		expect(events.at(-1)?.type).toBe("run.end");
		const inline = await new RunnerAgent(configured(steps)).runOnce();
		expect((inline.eventStream as readonly { type: string }[]).map(({ type }) => type)).toEqual(
			events.map(({ type }) => type),
		);
		expect(Object.keys(store).toSorted()).toEqual([
			...["append", "isIncomplete", "markIncomplete", "read", "verify"],
		]);
		expect(await store.verify(result.id)).toEqual({ ok: true });
	});

	test.each(["altered", "removed", "exchanged", "added", "cut off", "broken"])(
		"reports the first event that was %s [RUN-141]",
		async (how) => {
			const { store, file } = fileStore();
			const { id } = await new RunnerAgent(configured(steps, { eventStore: store })).runOnce();
			const path = file();
			const lines = readFileSync(path, "utf8").split("\n").filter(Boolean);
			const third = JSON.parse(lines[2] as string);
			if (how === "altered") lines[2] = JSON.stringify({ ...third, time: "2001-01-01T00:00:00.000Z" });
			if (how === "removed") lines.splice(2, 1);
			if (how === "exchanged") [lines[2], lines[3]] = [lines[3] as string, lines[2] as string];
			if (how === "added") lines.splice(2, 0, lines[1] as string);
			if (how === "cut off") lines.splice(2);
			if (how === "broken") lines[2] = "{";
			writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
			expect(await fileEventStore(join(path, "..")).verify(id)).toEqual({ ok: false, seq: 3 });
		},
	);

	test("that fails lets the run continue with a warning, and its record cannot be replayed [RUN-142]", async () => {
		const inner = memoryEventStore();
		let appends = 0;
		const eventStore: EventStore = {
			...inner,
			append: (event) => (++appends === 4 ? Promise.reject(new Error("disk full")) : inner.append(event)),
		};
		const agent = new RunnerAgent(configured(steps, { eventStore }));
		const result = await agent.runOnce();
		expect(result.success).toBe(true);
		expect(result.diagnostics?.warnings?.join()).toContain("disk full");
		expect(await inner.isIncomplete?.(result.id)).toBe(true);
		await expect(agent.replay(result.id)).rejects.toMatchObject({ code: "RECORD_INCOMPLETE" });
		const whole = new RunnerAgent(configured(steps, { eventStore: inner }));
		const { id } = await whole.runOnce();
		expect((await whole.replay(id)).success).toBe(true);
		await inner.markIncomplete?.(id);
		await expect(whole.replay(id)).rejects.toMatchObject({ code: "RECORD_INCOMPLETE" });
		const { isIncomplete: _, markIncomplete: __, ...bare } = eventStore;
		await expect(
			new RunnerAgent(configured(steps, { eventStore: bare })).replay(result.id),
		).rejects.toMatchObject({
			code: "RECORD_INCOMPLETE",
		});
	});
});

describe("a replay", () => {
	const flaky = (): RunnerTool => {
		let calls = 0;
		return {
			id: "flaky",
			retry: { baseDelayMs: 0 },
			run: vi.fn(() => {
				if (++calls % 2 === 1) throw Object.assign(new Error("again"), { retriable: true, code: "BUSY" });
				return { ok: true, output: calls, meta: { attachments: { note: `call ${calls}` } } };
			}),
		};
	};
	const runs: [string, () => AgentConfig, RunOptions?][] = [
		["of tools", () => configured(steps, { tools: [echo] })],
		["with retries", () => configured([use("flaky"), use("flaky"), finish], { tools: [flaky()] })],
		[
			"of a model, whose calls fail over and are repaired",
			() => {
				const { planner: _, ...config } = configured([], { maxPlanRepairs: 2 });
				const broken = { call: () => Promise.reject(Object.assign(new Error("busy"), { retriable: true })) };
				return {
					...config,
					modelProviders: [broken, stubClient(["nonsense", [`{"type":"tool",`, `"toolId":"echo"}`], finish])],
				};
			},
		],
		[
			"that was blocked",
			() => configured([use("echo"), use("nobody"), finish], { safety: { toolDenylist: ["echo"] } }),
		],
		[
			"that failed",
			() =>
				configured([use("bad")], { tools: [{ id: "bad", run: () => Promise.reject(new Error("broken")) }] }),
		],
		[
			"that a policy engine judged",
			() =>
				configured([use("echo", 1), use("echo", 2), finish], {
					safety: {
						policyEngine: {
							check: ({ point, subject }) =>
								point === "planner-output" && (subject as RunnerStep).input === 1
									? { action: "block", rule: "ones" }
									: { action: "allow" },
						},
					},
				}),
		],
		[
			"of a model, whose tool is tried again",
			() => {
				const { planner: _, ...config } = configured([], { tools: [flaky()] });
				return { ...config, modelProviders: [stubClient([use("flaky"), finish])] };
			},
		],
		[
			"whose input, prompt and write policy changed",
			() => {
				const changed: Readonly<Record<string, unknown>> = {
					"tool-input": 2,
					"memory-write": "less",
					"model-prompt": [{ role: "user", content: "Do less." }],
				};
				const check = ({ point }: PolicyQuestion): PolicyDecision =>
					point in changed
						? { action: "modify", rule: "less", subject: changed[point] }
						: { action: "allow" };
				const { planner: _, ...config } = configured([], { safety: { policyEngine: { check } } });
				return {
					...config,
					memoryClient: inMemoryClient(),
					modelProviders: [stubClient([use("echo", 1), finish])],
				};
			},
		],
		...(["tool-input", "memory-write", "model-prompt"] as const).map(
			(refused): [string, () => AgentConfig] => [
				`whose ${refused} policy refused`,
				() => {
					const check = ({ point }: PolicyQuestion): PolicyDecision =>
						point === refused ? { action: "block", rule: "no", code: "NO" } : { action: "allow" };
					const { planner: _, ...config } = configured([], { safety: { policyEngine: { check } } });
					return {
						...config,
						memoryClient: inMemoryClient(),
						modelProviders: [stubClient([use("echo", 1), finish])],
					};
				},
			],
		),
		[
			"whose block could not be put on record",
			() => {
				const auditSink = { write: () => Promise.reject(new Error("disk full")) };
				return configured([use("echo"), finish], { safety: { toolDenylist: ["echo"], auditSink } });
			},
		],
		[
			"whose changed write could not be put on record",
			() => {
				const auditSink = { write: () => Promise.reject(new Error("disk full")) };
				const writeFilters = [{ match: "said", action: "drop" }] as const;
				return configured([use("echo", 1), finish], { safety: { writeFilters, auditSink } });
			},
		],
		[
			"whose memory took no second entry",
			() => {
				let appends = 0;
				const { append, ...memory } = inMemoryClient();
				const failing: typeof append = (...given) =>
					++appends === 2 ? Promise.reject(new Error("full")) : append(...given);
				return configured([use("echo", 1), use("echo", 2), finish], {
					memoryClient: { ...memory, append: failing },
				});
			},
		],
		...(["allow", "modify", "drop"] as const).map((action): [string, () => AgentConfig] => [
			`whose memory failed where policy said ${action}`,
			() => {
				let appends = 0;
				const { append, ...memory } = inMemoryClient();
				const failing: typeof append = (...given) =>
					++appends === 2
						? Promise.reject(Object.assign(new Error("full"), { code: "FULL" }))
						: append(...given);
				const check = ({ point, subject }: PolicyQuestion): PolicyDecision =>
					point === "memory-write" && JSON.stringify(subject).includes("1")
						? ({ action, rule: "ones", subject: "less" } as PolicyDecision)
						: { action: "allow" };
				return configured([use("echo", 0), use("echo", 1), use("echo", 2), finish], {
					memoryClient: { ...memory, append: failing },
					safety: { policyEngine: { check } },
				});
			},
		]),
		[
			"whose memory could not be read",
			() =>
				configured(steps, {
					memoryClient: { ...inMemoryClient(), read: () => Promise.reject(new Error("gone")) },
				}),
			{ contextKey: "past" },
		],
		["that was deterministic", () => configured(steps), { deterministic: true, seed: 7 }],
	];

	test.each(runs)("%s makes no live calls and gives the same result [RUN-143]", async (_, make, options) => {
		const eventStore = memoryEventStore();
		const config = { ...make(), eventStore };
		const original = await new RunnerAgent(config).runOnce(options);
		const live = vi.fn(() => {
			throw new Error("something live was called");
		});
		const dead: AgentConfig = {
			...config,
			tools: config.tools.map((tool) => ({ ...tool, run: live })),
			modelProviders: config.modelProviders.map(() => ({
				call: live,
				stream: live,
				getModelInfo: live,
			})) as never,
			memoryClient: { append: live, read: live },
			safety: {
				...config.safety,
				...(config.safety?.policyEngine === undefined ? {} : { policyEngine: { check: live } }),
				...(config.safety?.auditSink === undefined ? {} : { auditSink: { write: live } }),
			},
		};
		const replayed = await new RunnerAgent(dead).replay(original.id);
		expect(live).not.toHaveBeenCalled();
		expect(essence(replayed)).toBe(essence(original));
		expect(await eventStore.verify(original.id)).toEqual({ ok: true });
	});

	test.each([true, false])(
		"asks no one if a person answered %s in the recorded run [RUN-143]",
		async (approved) => {
			const policyEngine = {
				check: ({ point }: PolicyQuestion): PolicyDecision =>
					point === "tool-input" ? { action: "ask", rule: "big" } : { action: "allow" },
			};
			const agent = new RunnerAgent(
				configured([use("echo"), finish], { eventStore: memoryEventStore(), safety: { policyEngine } }),
			);
			const session = agent.createSession();
			const running = session.run();
			const engineSession = agent.engine.session(session.id);
			await expect.poll(() => engineSession.pending()).toHaveLength(1);
			const toolCallId = (await engineSession.pending())[0]?.toolCallId as string;
			void (await engineSession.answer([{ toolCallId, approved }])).result();
			const original = await running;
			expect(original.actions?.[0]?.ok).toBe(approved);
			expect(essence(await agent.replay(original.id))).toBe(essence(original));
		},
	);

	test("has the memory that the run started with [RUN-143]", async () => {
		const memoryClient = inMemoryClient();
		await memoryClient.append("past", "a fact");
		const config = configured(({ memory }) => ({ type: "finish", input: memory }), {
			memoryClient,
			eventStore: memoryEventStore(),
		});
		const original = await new RunnerAgent(config).runOnce({ contextKey: "past" });
		const replayed = await new RunnerAgent({ ...config, memoryClient: inMemoryClient() }).replay(original.id);
		expect(replayed.result).toEqual(["a fact"]);
	});

	test("stops at the first event that differs, is missing or is additional [RUN-144]", async () => {
		const eventStore = memoryEventStore();
		const { id } = await new RunnerAgent(configured(steps, { eventStore })).runOnce();
		const events = await eventStore.read(id);
		const plans = events.filter(({ type }) => type === "plan").map(({ seq }) => seq);
		const differing = async (other: readonly RunnerStep[], more: Partial<AgentConfig> = {}) =>
			new RunnerAgent(configured(other, { eventStore, ...more })).replay(id).catch((error) => error);
		const another = await differing([steps[0], { type: "message", message: "else" }, finish]);
		expect(another).toMatchObject({ code: "REPLAY_DIVERGED", data: { seq: plans[1] } });
		expect(another.data.expected).toMatchObject({ type: "plan", data: { planned: { message: "so far" } } });
		expect(another.data.actual).toMatchObject({ type: "plan", data: { planned: { message: "else" } } });
		expect(await differing([steps[0], finish])).toMatchObject({
			code: "REPLAY_DIVERGED",
			data: { seq: plans[1] },
		});
		expect(await differing([steps[0], steps[1], steps[1], finish])).toMatchObject({
			code: "REPLAY_DIVERGED",
			data: { seq: plans[2] },
		});
		expect(await differing(steps, { maxSteps: 2 })).toMatchObject({ code: "REPLAY_DIVERGED" });
		const planned: number[] = [];
		const planner = stepsPlanner(({ step }) => {
			planned.push(step);
			return step === 1 ? steps[0] : { type: "message", message: "else" };
		});
		expect(await differing([], { planner })).toMatchObject({ data: { seq: plans[1] } });
		expect(planned).toEqual([1, 2]);
	});

	test("names missing and unexpected events [RUN-144]", async () => {
		const eventStore = memoryEventStore();
		const { id } = await new RunnerAgent(configured(steps, { eventStore })).runOnce();
		const [first, second, ...others] = await eventStore.read(id);
		const comparer = (expected: readonly RunnerEvent[]) => new EventComparer(expected);
		const short = comparer([first as RunnerEvent, second as RunnerEvent]);
		expect(short.take(first as RunnerEvent)).toBe(true);
		expect(short.end()).toMatchObject({
			code: "REPLAY_DIVERGED",
			data: { seq: 2, expected: second, actual: undefined },
		});
		const long = comparer([first as RunnerEvent]);
		expect(long.take(first as RunnerEvent)).toBe(true);
		expect(long.take(second as RunnerEvent)).toBe(false);
		expect(long.take(others[0] as RunnerEvent)).toBe(false);
		expect(long.end()).toMatchObject({ data: { seq: 2, expected: undefined, actual: second } });
		const whole = comparer([first as RunnerEvent]);
		expect([whole.take(first as RunnerEvent), whole.end()]).toEqual([true, undefined]);
	});

	test("of an altered record, or of none, is rejected", async () => {
		const { store, file } = fileStore();
		const agent = new RunnerAgent(configured(steps, { eventStore: store }));
		const { id } = await agent.runOnce();
		await expect(agent.replay("nobody")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
		const lines = readFileSync(file(), "utf8").split("\n");
		writeFileSync(
			file(),
			[lines[0], (lines[1] as string).replace("Do it.", "Do that."), ...lines.slice(2)].join("\n"),
		);
		await expect(agent.replay(id)).rejects.toMatchObject({ code: "RECORD_ALTERED", data: { seq: 2 } });
		appendFileSync(file(), "");
		await expect(new RunnerAgent(configured(steps)).replay(id)).rejects.toMatchObject({
			code: "CONFIG_INVALID",
		});
	});
});
