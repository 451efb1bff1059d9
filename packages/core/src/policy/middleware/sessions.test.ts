// Middlewares in sessions: around each run, across restarts, and without changing what is recorded.
import { join } from "node:path";
import { type Script, scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../../agent/agent.ts";
import type { AgentOptions } from "../../agent/options.ts";
import { type Host, journalHost } from "../../host/host-port.ts";
import { memoryHost } from "../../host/memory-host.ts";
import { memoryJournal } from "../../host/memory-journal.ts";
import { sqliteHost } from "../../sqlite.ts";
import { watched } from "../interceptor.fixture.ts";
import { definePlugin } from "../plugins/plugin.ts";
import { isCallKey } from "../policy-run.ts";
import { budget } from "./budget.ts";
import { fallback } from "./fallback.ts";
import { logging } from "./logging.ts";
import { resultOf } from "./middleware-face.fixture.ts";
import type { Middleware, MiddlewareEntry } from "./middleware-face.ts";
import { pruneToolOutputs } from "./prune-tool-outputs.ts";
import { retry } from "./retry.ts";
import { slidingWindow } from "./sliding-window.ts";
import { summarise } from "./summarise.ts";

const look = { name: "look", description: "Looks.", parameters: { type: "object" }, run: () => "seen" };
const call = { toolCalls: [{ name: "look" }] };

function talking(script: Script, middleware: readonly MiddlewareEntry[], more: Partial<AgentOptions> = {}) {
	const model = scriptedModel(script);
	const agent = new Agent({ name: "clerk", model, tools: [look], middleware, ...more });
	return { agent, model, ask: (input: string) => watched(agent, input) };
}

const shown = (model: ReturnType<typeof scriptedModel>): (string[] | undefined)[] =>
	model.requests.map(({ messages }) => messages.map(({ text }) => text));

describe("a middleware in a session", () => {
	test("runs around each turn, in order and in reverse, with its own metadata", async () => {
		const log: string[] = [];
		const noting = (name: string): Middleware => ({
			name,
			before({ metadata, state, input }) {
				metadata[name] = true;
				log.push(`${name}.before ${state.messages.length} ${input.text}`);
			},
			after({ metadata }, result) {
				log.push(`${name}.after ${Object.keys(metadata).length}`);
				return result;
			},
		});
		const { ask } = talking(["one", "two"], [noting("a"), noting("b")]);
		await ask("first");
		await ask("second");
		const out = ["b.after 2", "a.after 2"];
		expect(log).toEqual([
			"a.before 0 first",
			"b.before 0 first",
			...out,
			"a.before 2 second",
			"b.before 2 second",
			...out,
		]);
	});

	test("records the results of `after` and `onError` after the messages, and a recovered run completes", async () => {
		const host = memoryHost();
		const replacing: Middleware = {
			name: "replacing",
			after: () => resultOf("replaced"),
			onError: () => resultOf("recovered"),
		};
		const { ask, agent } = talking([{ text: "said" }, { error: new Error("broken") }], [replacing], { host });
		expect((await ask("one")).result.text).toBe("replaced");
		const failed = await ask("two");
		expect(failed.result).toMatchObject({ outcome: "completed", text: "recovered" });
		expect(failed.result.error).toBeUndefined();
		expect((await agent.session("s").state()).messages.map(({ text }) => text)).toEqual([
			"one",
			"said",
			"replaced",
			"two",
			"recovered",
		]);
	});

	test("keeps a recorded result that `after` did not change, and records a changed output", async () => {
		const host = memoryHost();
		const output = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;
		const outputs: unknown[] = [];
		const counting: Middleware = {
			name: "counting",
			after(_, result) {
				outputs.push(result.output);
				return outputs.length === 1 ? result : { ...result, output: { city: "Rome" } };
			},
		};
		const script = () => '{"city":"rome"}';
		const { ask, agent } = talking(script, [counting], { host, output, tools: [] });
		expect((await ask("one")).result.output).toEqual({ city: "rome" });
		expect((await agent.session("s").state()).messages).toHaveLength(2);
		const { result, seen } = await ask("two");
		expect(result.output).toEqual({ city: "Rome" });
		expect(seen.at(-1)).toMatchObject({ type: "run_end", outcome: "completed", output: { city: "Rome" } });
		expect((await agent.session("s").state()).messages).toHaveLength(4);
	});

	test("fails a run whose `after` throws, unless an `onError` further out has a result", async () => {
		const throwing: Middleware = {
			name: "throwing",
			after() {
				throw new Error("not like this");
			},
		};
		const saving: Middleware = { name: "saving", onError: (_, { message }) => resultOf(`saved: ${message}`) };
		const failed = await talking(["said"], [throwing]).ask("one");
		expect(failed.result).toMatchObject({ outcome: "error", error: { message: "not like this" } });
		expect(failed.seen.at(-1)).toMatchObject({ type: "run_end", outcome: "error" });
		const saved = await talking(["said"], [saving, throwing]).ask("one");
		expect(saved.result).toMatchObject({ outcome: "completed", text: "saved: not like this" });
	});

	test("is called again if the process dies before the end is recorded, and its result is recorded once", async () => {
		const journal = memoryJournal({ workerId: "dead" });
		let reached = (): void => {};
		const died = new Promise<void>((resolve) => {
			reached = resolve;
		});
		let asked = 0;
		const counting = (life: "dies" | "lives"): Middleware => ({
			name: "counting",
			after() {
				asked++;
				if (life === "lives") return resultOf(`changed ${asked}`);
				reached();
				return new Promise(() => {});
			},
		});
		const first = talking(["said"], [counting("dies")], { host: journalHost(journal) });
		void (await first.agent.session("s").send("one")).result();
		await died;
		journal.die();
		const host = journalHost(journal.worker("next"));
		const second = talking(["never"], [counting("lives")], { host });
		const resumed = await second.agent.session("s").resume();
		expect((await resumed?.result())?.text).toBe("changed 2");
		const { messages } = await second.agent.session("s").state();
		expect(messages.map(({ text }) => text)).toEqual(["one", "said", "changed 2"]);
		expect(await second.agent.session("s").resume()).toBeNull();
		expect([asked, second.model.requests.length]).toEqual([2, 0]);
	});

	test("includes an input that arrived before it was called, and leaves a later one to the next turn", async () => {
		let steer: (() => Promise<unknown>) | undefined;
		const seen: string[] = [];
		const steering: Middleware = {
			name: "steering",
			async after(_, result) {
				seen.push(result.turn.response.text);
				await steer?.();
				steer = undefined;
				return result;
			},
		};
		let release = (): void => {};
		const gate = new Promise<void>((resolve) => {
			release = resolve;
		});
		const { agent } = talking([{ text: "one", gate }, "two", "three", "four"], [steering]);
		const session = agent.session("s");
		steer = () => session.steer("and later?");
		const run = await session.send("go");
		for await (const event of run.watch()) if (event.type === "model_start") break;
		await session.steer("and now?");
		release();
		expect((await run.result()).text).toBe("two");
		await (await session.send("done?")).result();
		const said = ["go", "one", "and now?", "two", "and later?", "three", "done?", "four"];
		expect((await session.state()).messages.map(({ text }) => text)).toEqual(said);
		expect(seen).toEqual(["two", "three", "four"]);
	});

	test("shows the model the input and state that `before` returned, in this run, and changes no record", async () => {
		const secretly: Middleware = {
			name: "secretly",
			before(context) {
				if (context.input.text !== "second") return;
				const state = context.state.withContext([new UserMessage("earlier")]);
				return { ...context, state, input: new UserMessage("changed") };
			},
		};
		const { ask, model, agent } = talking(["one", call, "two", "three"], [secretly]);
		for (const input of ["first", "second", "third"]) await ask(input);
		expect(shown(model).slice(1, 3)).toEqual([
			["earlier", "changed"],
			["earlier", "changed", "", "seen"],
		]);
		expect(shown(model)[3]?.[0]).toBe("first");
		const { messages } = await agent.session("s").state();
		expect(messages.map(({ text }) => text)).toEqual([
			"first",
			"one",
			"second",
			"",
			"seen",
			"two",
			"third",
			"three",
		]);
	});

	test("that throws in `before` fails the turn before the model is called", async () => {
		const guard: Middleware = {
			name: "guard",
			before() {
				throw Object.assign(new Error("not now"), { code: "closed" });
			},
		};
		const { ask, model } = talking(["never"], [guard]);
		expect((await ask("go")).result).toMatchObject({ outcome: "error", error: { message: "not now" } });
		expect(model.requests).toHaveLength(0);
	});

	test("does not run `before` again for a resumed turn, but runs `after`", async () => {
		const host = memoryHost();
		const log: string[] = [];
		const noting = (process: string): Middleware => ({
			name: "noting",
			before: ({ state }) => void log.push(`${process}.before ${state.messages.length}`),
			stop: ({ input, state }) => {
				log.push(`${process}.stop ${input.text} ${state.messages.length}`);
				return false;
			},
			after: (_, result) => {
				log.push(`${process}.after ${result.turn.response.text}`);
				return result;
			},
		});
		let release = (): void => {};
		const gate = new Promise<void>((resolve) => {
			release = resolve;
		});
		const first = talking(["zero", call, { text: "never", gate }], [noting("first")], { host });
		await first.ask("start");
		const run = await first.agent.session("s").send("go");
		for await (const event of run.watch())
			if (event.type === "model_start" && event.step === 2) run.suspend();
		await run.result();
		const second = talking(["done"], [noting("second")], { host });
		const resumed = await second.agent.session("s").resume();
		await resumed?.result();
		expect(log.slice(3)).toEqual([
			"first.before 2",
			"first.stop go 2",
			// The end of the previous step, which had not been reported when the run was left, and of its own.
			"second.stop go 2",
			"second.stop go 2",
			"second.after done",
		]);
		release();
	});
});

describe("logging in a session", () => {
	test("logs when turns start, end and fail", async () => {
		const lines: string[] = [];
		const middleware = [
			logging({ level: "debug", includeTiming: false, logger: (line) => lines.push(line) }),
		];
		const { ask } = talking([call, "done", { error: new Error("broken") }], middleware);
		await ask("go");
		await ask("again");
		expect(lines).toEqual([
			"[info] agent clerk started",
			"[debug] agent clerk step, step 1, 15 tokens",
			"[debug] agent clerk step, step 2, 30 tokens",
			"[info] agent clerk completed, step 2, 30 tokens",
			"[info] agent clerk started",
			"[error] agent clerk failed: broken",
		]);
	});
});

describe("logging over a restart", () => {
	test("logs the end of a turn that started in a process that died, and its start only once", async () => {
		const lines: string[] = [];
		const log = (who: string) => logging({ level: "debug", logger: (line) => lines.push(`${who} ${line}`) });
		const journal = memoryJournal({ workerId: "dead" });
		const script: Script = [call, { text: "never", gate: new Promise(() => {}) }];
		const first = talking(script, [log("first")], { host: journalHost(journal) });
		const run = await first.agent.session("s").send("go");
		for await (const event of run.watch()) if (event.type === "model_start" && event.step === 2) break;
		journal.die();
		lines.length = 0;
		const host = journalHost(journal.worker("next"));
		const second = talking(["done", { error: new Error("broken") }], [log("second")], { host });
		await (await second.agent.session("s").resume())?.result();
		expect(lines).toEqual([
			// The end of the previous step, which had not been reported.
			"second [debug] agent clerk step, step 1, 15 tokens",
			"second [debug] agent clerk step, step 2, 30 tokens",
			"second [info] agent clerk completed, step 2, 30 tokens",
		]);
		await second.ask("again");
		expect(lines.at(-1)).toMatch(/^second \[error\] agent clerk failed in \d+ ms: broken$/);
	});
});

describe("a budget of a session", () => {
	const onFile = (): (() => Host) => {
		const path = join(temporaryFolder(), "s.db");
		return () => sqliteHost(path);
	};

	test("counts across restarts: another agent on the same file rejects a turn before the model is called", async () => {
		const open = onFile();
		const using = async (tokens: number, input: string) => {
			const host = open();
			const { ask, model, agent } = talking([call, "done"], [budget({ maxTokens: tokens })], { host });
			const { result } = await ask(input);
			await agent.close();
			await host.close();
			return { result, asked: model.requests.length };
		};
		const first = await using(50, "one");
		expect(first.result.state.metadata.budget).toMatchObject({ tokens: 30 });
		const second = await using(50, "two");
		expect(second.result.state.metadata.budget).toMatchObject({ tokens: 60, exceeded: "maxTokens" });
		const third = await using(50, "three");
		expect(third.asked).toBe(0);
		expect(third.result).toMatchObject({ outcome: "error", error: { code: "budget_exceeded" } });
		expect((await using(200, "four")).result.state.metadata.budget).toMatchObject({ tokens: 90 });
	});

	test("ends a turn after the step that reaches the limit, even if it was resumed", async () => {
		const host = memoryHost();
		const limit = budget({ maxTokens: 40 });
		const first = talking([call, { text: "never", gate: new Promise(() => {}) }], [limit], { host });
		const run = await first.agent.session("s").send("go");
		for await (const event of run.watch())
			if (event.type === "model_start" && event.step === 2) run.suspend();
		await run.result();
		const second = talking([call, call, call, "never"], [budget({ maxTokens: 40 })], { host });
		const resumed = await (await second.agent.session("s").resume())?.result();
		expect(resumed?.outcome).toBe("completed");
		expect(second.model.requests).toHaveLength(2);
		expect(resumed?.state.metadata.budget).toMatchObject({ tokens: 45, exceeded: "maxTokens" });
	});

	test("counts across a crash in the middle of a turn: tokens, cost and time", async () => {
		const prices = { scripted: { input: 1000, output: 2000 } };
		const journal = memoryJournal({ workerId: "dead" });
		const clock = { monotonic: () => 0 };
		const limit = () => [budget({ maxTokens: 40, maxCost: 1, maxDuration: 1000, clock })];
		const script: Script = [call, call, { text: "never", gate: new Promise(() => {}) }];
		const first = talking(script, limit(), { host: journalHost(journal), prices });
		const run = await first.agent.session("s").send("go");
		let now = 0;
		clock.monotonic = () => (now += 100);
		for await (const event of run.watch()) if (event.type === "model_start" && event.step === 3) break;
		journal.die();
		const host = journalHost(journal.worker("next"));
		const second = talking([call, "never"], limit(), { host, prices });
		const before = (await second.agent.session("s").state()).metadata.budget as { duration: number };
		expect(before).toMatchObject({ tokens: 30, cost: expect.closeTo(0.04) });
		expect(before.duration).toBeGreaterThan(0);
		const resumed = await (await second.agent.session("s").resume())?.result();
		expect(resumed).toMatchObject({ outcome: "completed", steps: 3 });
		expect(second.model.requests).toHaveLength(1);
		const after = resumed?.state.metadata.budget as { duration: number };
		expect(after).toMatchObject({ tokens: 45, exceeded: "maxTokens", cost: expect.closeTo(0.06) });
		expect(after.duration).toBeGreaterThan(before.duration);
		const { result } = await second.ask("more");
		expect(result.error?.code).toBe("budget_exceeded");
		expect(second.model.requests).toHaveLength(1);
	});

	test("per turn also counts the time before a restart", async () => {
		const journal = memoryJournal({ workerId: "dead" });
		let now = 0;
		const clock = { monotonic: () => (now += 100) };
		const limit = () => [budget({ maxDuration: 350, scope: "call", clock })];
		const script: Script = [call, { text: "never", gate: new Promise(() => {}) }];
		const first = talking(script, limit(), { host: journalHost(journal) });
		const run = await first.agent.session("s").send("go");
		for await (const event of run.watch()) if (event.type === "model_start" && event.step === 2) break;
		const spent = (await first.agent.session("s").state()).metadata.budget as { duration: number };
		journal.die();
		now = 0;
		const second = talking(() => call, limit(), { host: journalHost(journal.worker("next")) });
		const resumed = await (await second.agent.session("s").resume())?.result();
		expect(resumed?.state.metadata.budget).toMatchObject({ exceeded: "maxDuration" });
		const { duration = 0 } = (resumed?.state.metadata.budget ?? {}) as { duration?: number };
		expect(spent.duration).toBeGreaterThan(0);
		// The step that reaches the limit is the last one.
		expect(duration - 350).toBeLessThanOrEqual(200);
	});

	test("counts the usage of failed turns, also per turn", async () => {
		const { ask, model } = talking(
			[call, { error: new Error("broken") }, call, call, "never"],
			[budget({ maxTokens: 30, scope: "call" })],
		);
		expect((await ask("one")).result.outcome).toBe("error");
		const { result } = await ask("two");
		expect(result.state.metadata.budget).toMatchObject({ tokens: 45, exceeded: "maxTokens" });
		expect(model.requests).toHaveLength(4);
	});

	test("computes the cost from the agent's prices, and rejects if there are none", async () => {
		const prices = { scripted: { input: 1000, output: 2000 } };
		const { ask } = talking(["one", "never"], [budget({ maxCost: 0.02 })], { prices });
		expect((await ask("one")).result.state.metadata.budget).toMatchObject({ cost: 0.02 });
		expect((await ask("two")).result.error?.code).toBe("budget_exceeded");
		const unknown = talking(["never"], [budget({ maxCost: 1 })]);
		expect((await unknown.ask("one")).result.error?.code).toBe("invalid_option");
	});
});

describe("middlewares that shorten a history, in a session", () => {
	test("show the model the end of it, and keep all of it in the journal", async () => {
		const { ask, model, agent } = talking(() => "yes", [slidingWindow(2)]);
		for (const text of ["a", "b", "c", "d"]) await ask(text);
		expect(shown(model).at(-1)).toEqual(["c", "yes", "d"]);
		expect((await agent.session("s").state()).messages).toHaveLength(8);
	});

	test("clear old outputs in the messages that the model sees", async () => {
		const pruning = pruneToolOutputs({
			contextLimit: 1,
			outputReserve: 0,
			protectRecent: 0,
			estimate: () => 1,
		});
		const { ask, model, agent } = talking([call, "one", "two"], [pruning]);
		for (const text of ["a", "b"]) await ask(text);
		expect(shown(model).at(-1)?.[2]).toBe("[Output cleared - context limit]");
		expect((await agent.session("s").state()).messages[2]?.text).toBe("seen");
	});

	describe("within one long turn", () => {
		/** Sixty calls of a tool, and then an answer. */
		const long: Script = (_, number) => (number < 60 ? call : "done");
		const wide = { ...look, run: () => "seen ".repeat(20) };

		test.each(["session", "generate"] as const)(
			"show the model the question and the end of the turn: %s",
			async (way) => {
				const { model, agent } = talking(long, [slidingWindow(6)]);
				if (way === "generate") await agent.generate("go");
				else await (await agent.session("s").send("go")).result();
				expect(model.requests).toHaveLength(61);
				for (const { messages } of model.requests) {
					expect(messages.length).toBeLessThanOrEqual(7);
					expect(messages[0]?.text).toBe("go");
					if (messages.length > 1) expect(messages[1]?.type).toBe("assistant");
				}
				expect(model.requests.at(-1)?.messages).toHaveLength(7);
				if (way === "session") expect((await agent.session("s").state()).messages).toHaveLength(122);
			},
		);

		test.each(["session", "generate"] as const)(
			"clear old outputs, but never one that the model has not seen: %s",
			async (way) => {
				const pruning = pruneToolOutputs({ contextLimit: 600, outputReserve: 100, protectRecent: 200 });
				const { model, agent } = talking(long, [pruning], { tools: [wide] });
				if (way === "generate") await agent.generate("go");
				else await (await agent.session("s").send("go")).result();
				const cleared = model.requests.map(
					({ messages }) => messages.filter(({ text }) => text.startsWith("[Output")).length,
				);
				expect(cleared[0]).toBe(0);
				expect(cleared.at(-1)).toBeGreaterThan(50);
				for (const { messages } of model.requests.slice(1))
					expect(messages.at(-1)?.text).toBe("seen ".repeat(20));
			},
		);
	});

	test("write a summary once, which another process also shows", async () => {
		const path = join(temporaryFolder(), "s.db");
		const asked: number[] = [];
		const summarizing = () =>
			summarise({
				summarizer: (_, old) => {
					asked.push(old.length);
					return "They talked.";
				},
				threshold: 4,
				keepRecent: 1,
				estimate: (message) => (message.text.startsWith("[") ? 0 : 1),
			});
		const host = sqliteHost(path);
		const one = talking(() => "yes", [summarizing()], { host });
		for (const text of ["a", "b", "c"]) await one.ask(text);
		expect(shown(one.model).at(-1)).toEqual(["[Previous conversation summary]\nThey talked.", "c"]);
		const other = talking(() => "yes", [summarizing()], { host });
		await other.ask("d");
		expect(shown(other.model).at(-1)).toEqual([
			"[Previous conversation summary]\nThey talked.",
			"c",
			"yes",
			"d",
		]);
		expect(asked).toEqual([4]);
		await host.close();
	});
});

test("models that retry and fall back work in sessions", async () => {
	const failing = scriptedModel(() => ({ error: Object.assign(new Error("down"), { retryable: true }) }));
	const model = fallback(
		retry(failing, { attempts: 2, delay: 0, when: () => true }),
		scriptedModel(["Here."]),
	);
	const agent = new Agent({ model });
	expect((await watched(agent, "go")).result.text).toBe("Here.");
	expect(failing.requests).toHaveLength(2);
});

test("in a call, plugins get a key that is valid for the call, and may overlay and steer", async () => {
	const keys: string[] = [];
	const kept: unknown[] = [];
	const plugin = definePlugin({
		name: "calls",
		setup(host) {
			host.on("turn.before", async ({ overlay, sessionKey }) => {
				keys.push(sessionKey);
				kept.push(await host.values(sessionKey).get("seen"));
				await host.values(sessionKey).set("seen", true);
				await overlay("It is noon.");
			});
			host.on("step.after", async ({ stepIndex, steer, sessionKey }) => {
				kept.push(await host.values(sessionKey).get("seen"));
				if (stepIndex === 0) await steer("And now?");
			});
		},
		events: { on: ({ event }) => void keys.push(event.type) },
	});
	const model = scriptedModel(["one", "two"]);
	const { turn } = await new Agent({ model, plugins: [plugin] }).generate("go");
	expect(turn.response.text).toBe("two");
	expect(shown(model)).toEqual([
		["It is noon.", "go"],
		["It is noon.", "go", "one", "And now?"],
	]);
	expect(keys[0]).toBe("user-message");
	expect(keys.find((key) => isCallKey(key))).toBeDefined();
	expect(keys.at(-1)).toBe("turn-end");
	expect(kept).toEqual([undefined, true, true]);
});
