import { scriptedModel } from "@holdfast/testing";
import { createProvider, llm, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import type { AssistantSaid } from "../facts/fact.ts";
import { memoryHost } from "../host/memory-host.ts";
import { AgentState } from "../state/agent-state.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import { anyTool } from "./agent.fixture.ts";
import { Agent } from "./agent.ts";
import type { AgentOptions } from "./options.ts";
import type { StepChanges } from "./prepare-step.ts";

const tools = [anyTool("look", () => "seen"), anyTool("delete", () => "gone")];
const look = { toolCalls: [{ name: "look" }] };

/** The parts of a request that a step can change. */
function sent(model: ReturnType<typeof scriptedModel>) {
	return model.requests.map(({ system, params, tools: offered }) => ({
		system,
		params,
		tools: offered?.map(({ name }) => name),
	}));
}

function answers(entries: readonly { readonly fact: unknown }[]): AssistantSaid[] {
	return entries.map(({ fact }) => fact as AssistantSaid).filter(({ kind }) => kind === "assistant");
}

describe("prepareStep", () => {
	test("changes instructions, parameters, tool choice and active tools of its step", async () => {
		const model = scriptedModel([look, "Done."]);
		const clerk = new Agent({
			model,
			tools,
			instructions: "Be brief.",
			params: { temperature: 1 },
			prepareStep: async ({ step }) =>
				step === 1
					? {
							instructions: "Look first.",
							params: { topP: 0.5 },
							toolChoice: "required",
							activeTools: ["look"],
						}
					: undefined,
		});
		expect((await clerk.query("Go.")).response.text).toBe("Done.");
		expect(sent(model)).toEqual([
			{
				system: "Look first.",
				params: { temperature: 1, topP: 0.5, toolChoice: "required" },
				tools: ["look"],
			},
			{ system: "Be brief.", params: { temperature: 1 }, tools: ["look", "delete"] },
		]);
	});

	test("uses another model for a step, with the agent's settings and its own price", async () => {
		const small = scriptedModel([look], { modelId: "small" });
		const large = scriptedModel(["Done."], { modelId: "large" });
		const host = memoryHost();
		const clerk = new Agent({
			model: large,
			tools,
			instructions: "Be brief.",
			host,
			prices: { small: { input: 1, output: 1 }, large: { input: 10, output: 10 } },
			prepareStep: ({ step }) => ({ model: step === 1 ? small : large }),
		});
		const run = await clerk.session("s").send("Go.");
		const started: string[] = [];
		for await (const event of run.watch()) if (event.type === "model_start") started.push(event.modelId);
		expect((await run.result()).outcome).toBe("completed");
		expect(started).toEqual(["small", "large"]);
		expect(small.requests[0]?.system).toBe("Be brief.");
		const [first, second] = answers(await host.journal.read("s"));
		expect([first?.modelId, second?.modelId]).toEqual(["small", "large"]);
		expect((second?.cost ?? 0) / (first?.cost ?? 1)).toBeCloseTo(10, 0);
		expect(first?.prepared).toMatchObject({ changed: ["model"] });
		expect(second?.prepared).toBeUndefined();
	});

	test("gets the step, the history, the usage, the state and the caller", async () => {
		const seen: unknown[] = [];
		const clerk = new Agent({
			model: scriptedModel([look, "Done."]),
			tools,
			prepareStep({ step, tag, tools: names, messages, usage, state, sessionKey, caller, signal }) {
				seen.push({
					step,
					tag,
					names,
					said: messages.length,
					used: usage.totalTokens > 0,
					sessionKey,
					caller,
				});
				expect(state.messages).toHaveLength(messages.length);
				expect(signal.aborted).toBe(false);
			},
		});
		const caller = { user: "ada" };
		await (await clerk.session("s").send("Go.", { caller })).result();
		const common = { tag: "act", names: ["look", "delete"], sessionKey: "s", caller };
		expect(seen).toEqual([
			{ ...common, step: 1, said: 1, used: false },
			{ ...common, step: 2, said: 3, used: true },
		]);
	});

	test("rejects a call of an inactive tool, and the run continues", async () => {
		const model = scriptedModel([{ toolCalls: [{ name: "delete" }] }, "Done."]);
		let isGone = false;
		const clerk = new Agent({
			model,
			tools: [tools[0] as (typeof tools)[0], anyTool("delete", () => (isGone = true))],
			prepareStep: ({ step }) => (step === 1 ? { activeTools: ["look"] } : undefined),
		});
		const { toolExecutions } = await clerk.query("Go.");
		expect(isGone).toBe(false);
		expect(toolExecutions).toMatchObject([
			{
				isError: true,
				result: 'The tool "delete" is not available in this step. Available tools: look.',
			},
		]);
	});

	test("records only what differs from the agent", async () => {
		const host = memoryHost();
		const model = scriptedModel([look, look, "Done."]);
		const same: StepChanges = {
			model,
			instructions: "Be brief.",
			activeTools: ["delete", "look"],
			params: {},
		};
		const clerk = new Agent({
			model,
			tools,
			host,
			instructions: "Be brief.",
			toolChoice: "auto",
			prepareStep: ({ step }) =>
				step === 2 ? { ...same, toolChoice: "none" } : { ...same, toolChoice: "auto" },
		});
		await (await clerk.session("s").send("Go.")).result();
		const prepared = answers(await host.journal.read("s")).map((answer) => answer.prepared);
		expect(prepared).toEqual([undefined, { changed: ["toolChoice"] }, undefined]);
	});

	test("a change to the start of the prompt is a recorded cache break, and so is the change back", async () => {
		const host = memoryHost();
		const clerk = new Agent({
			model: scriptedModel([look, look, look, "Done."]),
			tools,
			host,
			instructions: "Be brief.",
			prepareStep: ({ step }) =>
				step === 3 ? { instructions: "Be long.", activeTools: ["look"] } : undefined,
		});
		const run = await clerk.session("s").send("Go.");
		const { cacheReport } = await run.result();
		const both = { reasons: ["instructions", "tools"], from: 0 };
		expect(cacheReport?.calls.map(({ cacheBreak }) => cacheBreak)).toEqual([
			undefined,
			undefined,
			both,
			both,
		]);
	});

	test("is called in the steps of every strategy, but not for tools that the strategy withholds", async () => {
		const asked: [string, number][] = [];
		const prepareStep: AgentOptions["prepareStep"] = ({ tag, tools: names }) => {
			asked.push([tag, names.length]);
			return { activeTools: ["look"] };
		};
		const model = scriptedModel(["I think.", look, "Thought.", "Done."]);
		await new Agent({ model, tools, prepareStep, execution: react() }).query("Go.");
		expect(asked.slice(0, 2)).toEqual([
			["reason", 2],
			["act", 2],
		]);
		expect(sent(model).map(({ tools: offered }) => offered)).toContainEqual(["look"]);

		const steps = [{ id: "a", description: "Look.", tool: "look", dependsOn: [] }];
		const planner = scriptedModel([
			{ text: JSON.stringify({ steps }), data: { steps } },
			look,
			"Looked.",
			"Done.",
		]);
		asked.length = 0;
		await new Agent({ model: planner, tools, prepareStep, execution: plan() }).query("Go.");
		expect(asked[0]?.[0]).toBe("plan");
		expect(planner.requests).not.toHaveLength(0);
	});

	test("sub-agents have their own", async () => {
		const helperModel = scriptedModel(["Helped."]);
		const helper = new Agent({
			model: helperModel,
			name: "helper",
			description: "Helps.",
			prepareStep: () => ({ instructions: "You help." }),
		});
		const model = scriptedModel([
			{ toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "Help." } }] },
			"Done.",
		]);
		const clerk = new Agent({
			model,
			subagents: [helper],
			prepareStep: ({ step }) => (step === 1 ? { activeTools: ["delegate_to_helper"] } : { activeTools: [] }),
		});
		expect((await (await clerk.session("s").send("Go.")).result()).text).toBe("Done.");
		expect(helperModel.requests[0]?.system).toBe("You help.");
		expect(sent(model).map(({ tools: offered }) => offered)).toEqual([["delegate_to_helper"], []]);
	});

	test("an error that it throws fails the run, and nothing is sent", async () => {
		const model = scriptedModel(["Done."]);
		const clerk = new Agent({
			model,
			prepareStep() {
				throw new Error("no luck");
			},
		});
		await expect(clerk.query("Go.")).rejects.toThrow("no luck");
		const result = await (await clerk.session("s").send("Go.")).result();
		expect(result).toMatchObject({ outcome: "error", error: { message: "no luck" } });
		expect(model.requests).toEqual([]);
	});

	test("keys and addresses of one provider are not used for the model of another", async () => {
		const configs: unknown[] = [];
		const same = scriptedModel((request) => {
			configs.push(request.config);
			return "Done.";
		});
		const { modalities } = same.provider;
		const foreign = createProvider({ name: "foreign", version: "1", modalities })("other");
		const config = { apiKey: "secret", headers: { a: "b" }, silenceMs: 5_000 };
		for (const model of [same, foreign]) {
			const agentModel = scriptedModel(["Never."]);
			await new Agent({ model: agentModel, config, prepareStep: () => ({ model }) }).query("Go.");
		}
		expect(configs).toEqual([config, { silenceMs: 5_000 }]);
	});
});

describe("what prepareStep must not return", () => {
	const returned: readonly (readonly [string, unknown, RegExp])[] = [
		["an unknown tool", { activeTools: ["lok"] }, /names "lok".*Did you mean "look"/],
		["an unknown option", { instruction: "x" }, /no option `instruction`. Did you mean `instructions`/],
		["an option of the agent", { system: "x" }, /Write `instructions`/],
		["a text", "look", /must return an object/],
		["a list", [], /must return an object/],
		["the name of a model", { model: "gpt-5" }, /`model` cannot be used: The model "gpt-5" is given as text/],
		["no model", { model: null }, /`model` must be a model/],
		["a function as model", { model: async () => [] }, /is a function or an instance/],
		["an instance as model", { model: llm({ model: scriptedModel([]) }) }, /is a function or an instance/],
		["instructions that are no text", { instructions: 5 }, /`instructions` must be a string/],
		["names that are no list", { activeTools: "look" }, /must be a list/],
		["parameters that are no object", { params: 5 }, /`params` must be an object/],
		["an unknown choice", { toolChoice: "always" }, /`toolChoice` must be/],
		[
			"the choice of an inactive tool",
			{ activeTools: ["look"], toolChoice: { type: "tool", toolName: "delete" } },
			/names "delete", which is not an active tool/,
		],
		["a required call without tools", { activeTools: [], toolChoice: "required" }, /no tool is active/],
	];

	test.each(returned)(
		"%s: the run fails with invalid_step, and nothing is sent",
		async (_, given, message) => {
			const model = scriptedModel(["Done."]);
			const clerk = new Agent({ model, tools, prepareStep: () => given as never });
			const call = clerk.query("Go.");
			await expect(call).rejects.toMatchObject({
				code: "invalid_step",
				message: expect.stringMatching(message),
			});
			const session = clerk.session("s");
			const result = await (await session.send("Go.")).result();
			expect(result).toMatchObject({ outcome: "error", error: { code: "invalid_step" } });
			expect((await session.state()).messages).toMatchObject([{ type: "user" }]);
			expect(model.requests).toEqual([]);
		},
	);

	test("the option is rejected where it would have no effect", () => {
		const model = scriptedModel([]);
		const prepareStep = () => undefined;
		const code = (act: () => unknown): string => {
			try {
				act();
			} catch (error) {
				return (error as { code: string }).code;
			}
			return "none";
		};
		const own = { name: "own", execute: async () => ({}), stream: () => ({}) };
		expect(code(() => new Agent({ model, prepareStep: {} as never }))).toBe("invalid_option");
		expect(code(() => new Agent({ model: async () => [], prepareStep }))).toBe("invalid_option");
		expect(code(() => new Agent({ model, prepareStep, execution: own as never }))).toBe(
			"conflicting_options",
		);
		expect(code(() => new Agent({ model, prepareStep }))).toBe("none");
	});
});

test("an agent continues a state whose steps another agent prepared", async () => {
	const prepared = new Agent({
		model: scriptedModel(["One."]),
		prepareStep: () => ({ instructions: "Now." }),
	});
	const { state } = await prepared.ask("Go.", AgentState.initial());
	const plain = new Agent({ model: scriptedModel(["Two."]) });
	const { turn } = await plain.ask(
		"On.",
		AgentState.fromJSON(state.toJSON()).withMessages([new UserMessage("x")]),
	);
	expect(turn.response.text).toBe("Two.");
});
