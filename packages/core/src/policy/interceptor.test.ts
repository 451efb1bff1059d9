// The one policy list for every way to call an agent: which stage is called when, and what it changes.
import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, isToolResultMessage, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { ExecutionContext, ExecutionStrategy } from "../strategies/execution-strategy.ts";
import { faces } from "./interceptor.fixture.ts";
import type { Interceptor, Stages } from "./interceptor.ts";
import { definePlugin } from "./plugins/plugin.ts";

const look = {
	name: "look",
	description: "Looks.",
	parameters: { type: "object", properties: { at: { type: "string" } } },
	run: ({ at }: { at?: string }) => `saw ${at ?? "nothing"}`,
};
const call = { toolCalls: [{ name: "look", id: "c1", arguments: { at: "the door" } }] };

function looking(middleware: AgentOptions["middleware"], plugins: AgentOptions["plugins"] = []) {
	const model = scriptedModel([call, "Done.", "Done again."]);
	return { model, options: { model, tools: [look], middleware, plugins } as AgentOptions };
}

const by = (name: string, stages: Stages): Interceptor => ({
	name,
	admitWaiting: "as-is",
	begin: () => stages,
});

/** The result of the call as the model saw it. */
function shownResult(model: ReturnType<typeof scriptedModel>): unknown {
	const message = model.requests[1]?.messages.at(-1);
	return isToolResultMessage(message) ? message.results[0]?.result : undefined;
}

describe.each(Object.entries(faces))("%s: the list of interceptors", (face, run) => {
	test("runs in order, stage by stage, and in reverse at the end", async () => {
		const log: string[] = [];
		const noting = (name: string): Interceptor => {
			const note = (stage: string): void => void log.push(`${name} ${stage}`);
			return by(name, {
				before: () => note("before"),
				after(_, result) {
					note("after");
					return result;
				},
				turnBefore: () => note("turnBefore"),
				stepBefore: () => note("stepBefore"),
				stepAfter: () => note("stepAfter"),
				stop() {
					note("stop");
					return false;
				},
				assemble(messages) {
					note("assemble");
					return messages;
				},
				modelCall(_, next) {
					note("modelCall");
					return next();
				},
				toolCall() {
					note("toolCall");
					return undefined;
				},
				toolResult(result) {
					note("toolResult");
					return result;
				},
				admit: (fact) => note(`admit ${fact.kind}`),
				deltas: "as-is",
			});
		};
		const { options } = looking([noting("a"), noting("b")]);
		const { text } = await run(options, "go");
		expect(text).toBe("Done.");
		const stages = (name: string): string[] =>
			log.filter((each) => each.startsWith(name)).map((each) => each.slice(2));
		const step = ["stepBefore", "assemble", "modelCall", "admit assistant"];
		expect(stages("a").filter((each) => !["admit run.started", "admit input"].includes(each))).toEqual([
			"before",
			"turnBefore",
			...step,
			"toolCall",
			"admit tool.started",
			"toolResult",
			"admit tool.settled",
			"stepAfter",
			"stop",
			...step,
			"stepAfter",
			"stop",
			// The journal of a call cannot be read.
			...(face === "generate" || face === "stream"
				? ["admit run.ended", "after"]
				: ["after", "admit run.ended"]),
		]);
		expect(stages("b").toSorted()).toEqual(stages("a").toSorted());
		const both = [
			"turnBefore",
			"assemble",
			"modelCall",
			"toolCall",
			"toolResult",
			"admit tool.settled",
			"stop",
		];
		for (const stage of both) expect(log.indexOf(`a ${stage}`)).toBe(log.indexOf(`b ${stage}`) - 1);
		expect(log.indexOf("b after")).toBe(log.indexOf("a after") - 1);
	});

	test("has the hooks of plugins after middleware, in one list", async () => {
		const log: string[] = [];
		const plugin = definePlugin({
			name: "hooks",
			setup(host) {
				host.on("turn.before", () => void log.push("turn.before"));
				host.on("tool.call", ({ input }) => {
					log.push(`tool.call ${input.at}`);
					return { action: "modify", input: { at: `${input.at}, closely` } };
				});
				host.on("tool.result", ({ output }) => {
					log.push(`tool.result ${output}`);
					return { status: "done", output: `${output}!` };
				});
				host.on("assemble", ({ messages }) => void log.push(`assemble ${messages.length}`));
				host.on("turn.after", ({ result }) => void log.push(`turn.after ${result}`));
			},
		});
		const first = by("first", {
			toolCall: ({ input }) => ({ action: "modify", input: { at: `${(input as { at: string }).at} first` } }),
			toolResult: ({ output }) => ({ status: "done", output: `${output}?` }),
		});
		const { options, model } = looking([first], [plugin]);
		const { text } = await run(options, "go");
		expect(text).toBe("Done.");
		expect(shownResult(model)).toBe("saw the door first, closely?!");
		expect(log).toEqual([
			"turn.before",
			"assemble 1",
			"tool.call the door first",
			"tool.result saw the door first, closely?",
			"assemble 3",
			"turn.after completed",
		]);
	});

	test("may show the model other messages, answer in its place, and stop the run", async () => {
		const model = scriptedModel([call, call, "never"]);
		const shown: number[] = [];
		const list = [
			by("window", { assemble: (messages) => messages.slice(-1) }),
			by("look", {
				assemble(messages) {
					shown.push(messages.length);
					return messages;
				},
			}),
			by("stopping", { stop: (state) => state.step === 2 }),
			by("answering", {
				modelCall: async ({ step }, next) => {
					const answer = await next();
					return step === 1 ? answer : { ...answer, message: new AssistantMessage("Enough.") };
				},
			}),
		];
		const { text } = await run({ model, tools: [look], middleware: list }, "go");
		expect([text, shown, model.requests.length]).toEqual(["Enough.", [1, 1], 2]);
	});

	test("gives the run the input that `before` returned", async () => {
		const { options, model } = looking([
			{ name: "changing", before: (context) => ({ ...context, input: new UserMessage("changed") }) },
		]);
		await run(options, "go");
		for (const { messages } of model.requests) expect(messages[0]?.text).toBe("changed");
	});

	test("ends the run if one throws, and calls `onError` for it", async () => {
		const errors: string[] = [];
		const hearing = {
			name: "hearing",
			onError: (_: unknown, error: Error) => void errors.push(error.message),
		};
		for (const stage of [
			"turnBefore",
			"stepBefore",
			"assemble",
			"modelCall",
			"toolCall",
			"toolResult",
			"admit",
		]) {
			const broken = by("broken", {
				[stage]: (given: { kind?: string }) => {
					if (stage === "admit" && given.kind !== "assistant") return;
					throw Object.assign(new Error(`no ${stage}`), { code: "broken" });
				},
			});
			const { error } = await run(looking([hearing, broken]).options, "go");
			expect(String((error as Error).message)).toContain(`no ${stage}`);
		}
		expect(errors).toHaveLength(7);
	});

	test("is rejected if it returns an unusable value", async () => {
		const cases: Stages[] = [
			{ assemble: () => "nothing" as never },
			{ modelCall: async () => ({}) as never },
			{ modelCall: async (_, next) => (await next()) && next() },
		];
		for (const stages of cases) {
			const { error } = await run(looking([by("wrong", stages)]).options, "go");
			expect(error).toMatchObject({ code: "policy_invalid" });
		}
	});
});

describe("a custom strategy with its own `execute` method", () => {
	const own = {
		name: "own",
		async execute({ llm, input, state }: ExecutionContext) {
			const turn = await llm.generate(state.messages, input);
			return { turn, state: state.withMessages(turn.messages) };
		},
	} as ExecutionStrategy;

	test("has its tool calls decided and their results replaced", async () => {
		const deciding = by("deciding", {
			toolCall: () => ({ action: "modify", input: { at: "the window" } }),
			toolResult: ({ output }) => ({ status: "done", output: `${output}!` }),
		});
		const { options, model } = looking([deciding]);
		const { text } = await faces.generate({ ...options, execution: own }, "go");
		expect([text, shownResult(model)]).toEqual(["Done.", "saw the window!"]);
		const rejecting = by("rejecting", {
			toolCall: () => ({ action: "reject-and-continue", message: "Not here." }),
		});
		const rejected = looking([rejecting]);
		await faces.generate({ ...rejected.options, execution: own }, "go");
		expect(JSON.stringify(shownResult(rejected.model))).toContain("Not here.");
		const failing = by("failing", { toolCall: () => ({ action: "error", error: new Error("not at all") }) });
		const failed = await faces.generate({ ...looking([failing]).options, execution: own }, "go");
		expect(failed.error).toMatchObject({ message: "not at all" });
	});

	test("is rejected if an interceptor admits facts, because the strategy records none", async () => {
		const { options, model } = looking([by("admitting", { admit: () => undefined })]);
		const { error } = await faces.generate({ ...options, execution: own }, "go");
		expect(error).toMatchObject({ code: "conflicting_options" });
		expect(model.requests).toHaveLength(0);
	});
});

test.each([
	["that may wait for its own session is refused", undefined, "session_busy"],
	["that says it never does is not watched", "never", "completed"],
] as const)("a stage %s", async (_, waits, came) => {
	let later: Promise<string> | undefined;
	const asking: Interceptor = {
		name: "asking",
		begin: () => ({
			...(waits === undefined ? {} : { waits }),
			modelCall(_, next) {
				later ??= session
					.send("And then?")
					.then((run) => run.result())
					.then(
						({ outcome }) => outcome,
						(error) => error.code,
					);
				return next();
			},
		}),
	};
	const session = agent({ model: scriptedModel(["Done.", "Done again."]), middleware: [asking] }).session(
		"s",
	);
	expect((await (await session.send("Begin.")).result()).outcome).toBe("completed");
	expect(await later).toBe(came);
});
