import { scriptedModel } from "@holdfast/testing";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { acceptInput, storedInput } from "../../facts/input.ts";
import { memoryHost } from "../../host/memory-host.ts";
import { joinStages } from "../join-stages.ts";
import { definePlugin, type HookName, type Plugin, type PluginHost } from "./plugin.ts";
import { setupPlugins } from "./plugin-set.ts";
import { eventsOf, historyOf, openCalls, shownIn } from "./plugins.fixture.ts";

afterEach(() => {
	vi.restoreAllMocks();
});

const add = {
	name: "add",
	description: "Adds.",
	parameters: { type: "object" },
	run: ({ a, b }: { a: number; b: number }) => a + b,
};
const twoSteps = () =>
	scriptedModel([{ toolCalls: [{ name: "add", arguments: { a: 1, b: 2 } }] }, "It is 3."]);

const lifecycle = ["turn.before", "step.before", "step.after", "turn.after"] as const;

/** A plugin that logs which hooks were called. */
function noting(name: string, into: string[]): Plugin {
	return definePlugin({
		name,
		setup(host) {
			for (const hook of lifecycle) host.on(hook, () => void into.push(`${name} ${hook}`));
		},
	});
}

/** Resolves once `turn.after` was called. */
function turnEnd(): { readonly plugin: Plugin; readonly over: Promise<void> } {
	let ended!: () => void;
	const over = new Promise<void>((resolve) => {
		ended = resolve;
	});
	return {
		plugin: { name: "end", setup: (host) => host.on("turn.after", ended) },
		over,
	};
}

function deferred(): { readonly promise: Promise<void>; resolve(): void } {
	let resolve!: () => void;
	const promise = new Promise<void>((done) => {
		resolve = done;
	});
	return { promise, resolve };
}

describe("setup", () => {
	const settingUp = (order: string[], gate: Promise<void>): Plugin[] => [
		{
			name: "slow",
			async setup() {
				order.push("slow begins");
				await gate;
				order.push("slow ends");
			},
		},
		{ name: "quick", setup: () => void order.push("quick") },
	];

	test("runs plugin after plugin and is finished when Agent.create resolves [SES-124]", async () => {
		const order: string[] = [];
		const gate = deferred();
		const creating = Agent.create({
			model: scriptedModel(["hi"]),
			plugins: settingUp(order, gate.promise),
		});
		await vi.waitFor(() => expect(order).toEqual(["slow begins"]), { timeout: 30_000 });
		gate.resolve();
		await creating;
		expect(order).toEqual(["slow begins", "slow ends", "quick"]);
	});

	test("finishes before the first turn of an agent created with new [SES-124]", async () => {
		const order: string[] = [];
		const gate = deferred();
		const model = scriptedModel(() => {
			order.push("model");
			return "hi";
		});
		const agent = new Agent({ model, plugins: settingUp(order, gate.promise) });
		const turn = eventsOf(agent, "hello");
		gate.resolve();
		await turn;
		expect(order).toEqual(["slow begins", "slow ends", "quick", "model"]);
	});

	test("does not run for an agent that is never used, and once for one created from its options", async () => {
		const setup = vi.fn();
		const lender = new Agent({ model: scriptedModel(["done", "done"]), plugins: [{ name: "p", setup }] });
		const agent = new Agent({ ...lender, host: memoryHost() });
		expect(setup).not.toHaveBeenCalled();
		for (const session of [agent.session("a"), agent.session("b")]) await (await session.send("go")).result();
		expect(setup).toHaveBeenCalledOnce();
		await agent.close();
	});

	test("finishes before an open run of another agent is resumed and a queued turn of it starts", async () => {
		const host = memoryHost();
		const left = new Agent({ model: scriptedModel(() => new Promise<never>(() => {})), host });
		for (const text of ["one", "two"]) void (await left.session("s").send(text)).result();
		await left.close();
		const noted: string[] = [];
		const agent = new Agent({ model: scriptedModel(["1", "2"]), host, plugins: [noting("p", noted)] });
		await (await agent.session("s").resume())?.result();
		await vi.waitFor(() => expect(noted.filter((name) => name === "p turn.after")).toHaveLength(2));
		expect(noted.filter((name) => name === "p turn.before")).toHaveLength(1);
		await agent.close();
	});

	test("finishes before a run of another agent is parked, which all policy sees", async () => {
		const host = memoryHost();
		const left = new Agent({ model: scriptedModel(() => new Promise<never>(() => {})), host });
		void (await left.session("s").send("go")).result();
		await left.close();
		const admitted: string[] = [];
		const agent = new Agent({
			model: scriptedModel(["1"]),
			instructions: "Others.",
			onAgentChange: "park",
			host,
			plugins: [noting("p", [])],
			middleware: [
				{
					name: "m",
					admitWaiting: "as-is",
					begin: () => ({ admit: ({ kind }) => void admitted.push(kind) }),
				},
			],
		});
		await expect(agent.session("s").resume()).rejects.toMatchObject({ code: "run_parked" });
		expect(admitted).toEqual(["run.parked"]);
		await agent.close();
	});

	test("finishes before a turn starts that another process has accepted", async () => {
		const host = memoryHost();
		const body = storedInput(acceptInput("go"));
		await host.journal.submit("s", { id: "1", kind: "message", runId: "r", workerId: "gone", body });
		const noted: string[] = [];
		const agent = new Agent({ model: scriptedModel(["1"]), host, plugins: [noting("p", noted)] });
		await (await agent.session("s").resume())?.result();
		expect(noted).toEqual(lifecycle.map((hook) => `p ${hook}`));
		await agent.close();
	});

	test("that throws fails Agent.create, naming the plugin", async () => {
		const broken: Plugin = {
			name: "broken",
			setup() {
				throw new Error("no disk");
			},
		};
		await expect(Agent.create({ model: scriptedModel([]), plugins: [broken] })).rejects.toMatchObject({
			code: "plugin_failed",
			message: 'The plugin "broken" failed in setup: no disk',
		});
	});

	test.each<[string, (host: PluginHost) => void]>([
		[
			'"x" listens to "turn.during", which is not a hook',
			(host) => host.on("turn.during" as HookName, () => {}),
		],
		[
			'listens to "turn.after" with a value that is not a function',
			(host) => host.on("turn.after", 1 as never),
		],
		[
			'gives `deltas` with "turn.after"',
			(host) => host.on("turn.after", () => {}, { deltas: "as-is" } as never),
		],
		["already gave one", (host) => [host.sessionStore({}), host.sessionStore({})]],
		["before the setup of all plugins was over", (host) => host.values("key")],
	])("rejects with a TypeError that explains %s", async (said, setup) => {
		const refused = setupPlugins([{ name: "x", setup }]);
		await expect(refused).rejects.toThrow(said);
		await expect(refused).rejects.toBeInstanceOf(TypeError);
	});

	test("accepts registrations only while it runs", async () => {
		let kept!: PluginHost;
		const late: Plugin = {
			name: "late",
			setup(host) {
				kept = host;
			},
		};
		await setupPlugins([late]);
		expect(() => kept.on("turn.after", () => {})).toThrow(/"late" called host.on\(\) after its setup/);
		expect(() => kept.tool(add)).toThrow(TypeError);
	});

	test.each([
		[null, "position 1 of `plugins`"],
		[{ name: "" }, "`name` that is not a string"],
		[{ name: "a", setup: 1 }, '"a" has a `setup`'],
		[{ name: "a", events: {} }, '"a" has `events` without'],
	])("of an invalid plugin is rejected at construction: %o", (plugin, said) => {
		expect(() => new Agent({ model: scriptedModel([]), plugins: [plugin as never] })).toThrow(said);
		expect(() => new Agent({ model: scriptedModel([]), plugins: [plugin as never] })).toThrow(TypeError);
	});
});

describe("the hooks of a turn", () => {
	test("are called around the turn and its steps, in plugin order [SES-125]", async () => {
		const called: string[] = [];
		const end = turnEnd();
		const plugins = [noting("one", called), noting("two", called), end.plugin];
		const agent = await Agent.create({
			model: twoSteps(),
			tools: [add],
			plugins,
		});
		await eventsOf(agent, "1 + 2?");
		await end.over;
		const hooks = ["turn.before", "step.before", "step.after", "step.before", "step.after", "turn.after"];
		expect(called).toEqual(hooks.flatMap((hook) => [`one ${hook}`, `two ${hook}`]));
	});

	test("step.after can inspect the result and steer the turn into exactly one more step [SES-126]", async () => {
		const emitted: unknown[] = [];
		const plugin = definePlugin({
			name: "continue",
			setup(host) {
				host.on("step.after", async ({ result, history, stepIndex, overlay, steer }) => {
					emitted.push([result, stepIndex, history.map(({ text }) => text), typeof overlay]);
					if (stepIndex === 0) await steer("Continue.");
				});
			},
		});
		const model = scriptedModel(["first", "second", "never"]);
		const agent = await Agent.create({ model, plugins: [plugin] });
		const events = await eventsOf(agent, "hello");
		expect(emitted).toEqual([
			["completed", 0, ["hello", "first"], "function"],
			["completed", 1, ["hello", "first", "Continue.", "second"], "function"],
		]);
		expect(events.filter(({ type }) => type === "step-start" || type === "turn-start")).toHaveLength(3);
		expect(model.requests).toHaveLength(2);
	});

	test.each(["turn.before", "step.before"] as const)(
		"an overlay from %s is shown in the next model call and not stored [SES-127]",
		async (hook) => {
			const plugin = definePlugin({
				name: "clock",
				setup(host) {
					host.on(hook, ({ overlay }: { overlay: (input: string) => Promise<void> }) =>
						overlay("It is noon."),
					);
				},
			});
			const model = scriptedModel(["first", "second"]);
			const host = memoryHost();
			const agent = await Agent.create({ model, host, plugins: [plugin] });
			await eventsOf(agent, "hello");
			expect(shownIn(model.requests[0])).toEqual(["It is noon.", "hello"]);
			expect(await historyOf(agent)).toEqual(["hello", "first"]);
			expect(JSON.stringify(await host.journal.read("default"))).not.toContain("noon");
		},
	);

	test("an overlay from step.after causes one more model call that shows it, and is not stored [SES-127]", async () => {
		const plugin = definePlugin({
			name: "once-more",
			setup(host) {
				host.on("step.after", async ({ stepIndex, overlay }) => {
					if (stepIndex === 0) await overlay("In two sentences.");
				});
			},
		});
		const model = scriptedModel(["first", "second", "never"]);
		const host = memoryHost();
		const agent = await Agent.create({ model, host, plugins: [plugin] });
		await eventsOf(agent, "hello");
		expect(model.requests.map(shownIn)).toEqual([["hello"], ["hello", "first", "In two sentences."]]);
		expect(await historyOf(agent)).toEqual(["hello", "first", "second"]);
		expect(JSON.stringify(await host.journal.read("default"))).not.toContain("two sentences");
	});

	test("turn.after gets the result and the key once the turn is committed, and cannot overlay [SES-128]", async () => {
		const host = memoryHost();
		const emitted: unknown[] = [];
		const done = deferred();
		const plugin = definePlugin({
			name: "audit",
			setup(plugins) {
				plugins.on("turn.after", async ({ result, sessionKey, overlay }) => {
					const last = (await host.journal.read(sessionKey)).at(-1);
					emitted.push(result, sessionKey, last?.fact.kind);
					await overlay("late").catch((error) => emitted.push(error.code));
					done.resolve();
				});
			},
		});
		const agent = await Agent.create({
			model: scriptedModel(["hi"]),
			host,
			plugins: [plugin],
		});
		await eventsOf(agent, "hello", "room");
		await done.promise;
		expect(emitted).toEqual(["completed", "room", "run.ended", "overlay_closed"]);
	});

	test("turn.after that throws does not change the turn, and the next plugin is called [SES-128]", async () => {
		const end = turnEnd();
		const broken: Plugin = {
			name: "broken",
			setup(host) {
				host.on("turn.after", () => {
					throw new Error("no audit");
				});
			},
		};
		const ignored: string[] = [];
		const set = await setupPlugins([broken, end.plugin], {
			onIgnoredError: ({ message }) => ignored.push(message),
		});
		const turn = {
			sessionKey: "room",
			signal: new AbortController().signal,
			history: () => [],
			stepIndex: () => 0,
			overlay: async () => {},
			steer: async () => {},
		};
		await set.turnAfter(turn, "completed");
		await end.over;
		expect(ignored).toEqual(['The plugin "broken" failed in turn.after: no audit']);

		const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
		const agent = await Agent.create({
			model: scriptedModel(["hi", "again"]),
			plugins: [broken],
		});
		expect((await eventsOf(agent, "hello")).at(-1)).toEqual({
			type: "turn-end",
		});
		expect((await eventsOf(agent, "more")).at(-1)).toEqual({
			type: "turn-end",
		});
		expect(warned).toHaveBeenCalledWith('The plugin "broken" failed in turn.after: no audit');
	});

	test.each(["turn.before", "step.before", "step.after", "tool.call", "tool.result", "assemble"] as const)(
		"%s that throws ends the run with an error that names the plugin, and no call stays open [SES-129]",
		async (hook) => {
			const plugin = definePlugin({
				name: "broken-policy",
				setup(host) {
					host.on(hook, () => {
						throw new Error("no rules");
					});
				},
			});
			const agent = await Agent.create({
				model: twoSteps(),
				tools: [add],
				plugins: [plugin],
			});
			const events = await eventsOf(agent, "1 + 2?");
			expect(events.at(-1)).toEqual({
				type: "turn-error",
				code: "plugin_failed",
				message: `The plugin "broken-policy" failed in ${hook}: no rules`,
			});
			expect(await openCalls(agent)).toEqual([]);
		},
	);

	test("a hook without handlers costs the engine nothing: it is absent", async () => {
		const set = await setupPlugins([{ name: "x", setup: (host) => host.on("step.after", () => {}) }]);
		const turn = {} as never;
		expect(Object.keys(joinStages(set.stages(turn)))).toEqual(["stepAfter"]);
	});
});

describe("events.on", () => {
	test("observes the consumer's events, and its errors change nothing", async () => {
		const seen: string[] = [];
		const plugin: Plugin = {
			name: "onlooker",
			events: {
				on({ event, history }) {
					seen.push(`${event.type} ${history.length}`);
					throw new Error("blind");
				},
			},
		};
		vi.spyOn(console, "warn").mockImplementation(() => {});
		const agent = await Agent.create({
			model: scriptedModel(["hi"]),
			plugins: [plugin],
		});
		const events = await eventsOf(agent, "hello");
		expect(seen.map((each) => each.split(" ")[0])).toEqual(events.map(({ type }) => type));
		expect(events.at(-1)).toEqual({ type: "turn-end" });
	});

	test("is awaited before the next boundary, in sessions and in calls", async () => {
		const order: string[] = [];
		const model = scriptedModel((_, call) => {
			order.push(`model ${call}`);
			return "Hi.";
		});
		const on = async ({ event }: { event: { type: string } }): Promise<void> => {
			order.push(event.type);
			for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
			order.push(`${event.type} over`);
		};
		const agent = new Agent({ model, plugins: [{ name: "slow", events: { on: on as never } }] });
		const [first, second] = ["turn-start", "step-start"];
		const heard = (input: string): void => {
			const at = (what: string): number => {
				expect(order).toContain(what);
				return order.indexOf(what);
			};
			expect(at(`${input} over`)).toBeLessThan(at(first as string));
			expect(at(`${first} over`)).toBeLessThan(at(second as string));
			expect(at(`${second} over`)).toBeLessThan(order.findIndex((each) => each.startsWith("model")));
			expect(at("assistant-text over")).toBeLessThan(at("step-end"));
			expect(at("step-end over")).toBeLessThan(at("turn-end"));
			order.length = 0;
		};
		await (await agent.send("hello")).result();
		heard("user-text");
		await agent.generate("hello");
		heard("user-message");
	});

	test("that never returns delays the run only until it is stopped", async () => {
		const waiting = Promise.withResolvers<void>();
		const on = (): Promise<never> => {
			waiting.resolve();
			return new Promise(() => {});
		};
		const agent = new Agent({ model: scriptedModel(["Hi."]), plugins: [{ name: "slow", events: { on } }] });
		const run = await agent.send("hello");
		const result = run.result();
		await waiting.promise;
		run.interrupt();
		expect((await result).outcome).toBe("aborted");
	});
});
