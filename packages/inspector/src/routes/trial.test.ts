// The playground: what it sends and runs, that it leaves no trace, and who may use it.
import { scriptedModel } from "@holdfast/testing";
import { Agent, type AgentOptions, tool } from "holdfast";
import { afterEach, describe, expect, test } from "vitest";
import { inspector } from "../inspector.ts";
import { type Inspected, type InspectedOptions, inspect } from "./inspected.fixture.ts";

const opened: Inspected[] = [];
afterEach(async () => {
	for (const each of opened.splice(0)) await each.close();
});

const inputs: unknown[] = [];
const pay = tool({
	name: "pay",
	description: "Pays.",
	parameters: { type: "object", properties: { euros: { type: "number" } }, required: ["euros"] },
	needsApproval: true,
	run: (input: { euros: number }, context) => {
		inputs.push(input);
		context?.emit("paying");
		return { paid: input.euros, apiKey: "hunter2-hunter2" };
	},
});
const fails = tool({
	...{ name: "fails", description: "Fails.", parameters: { type: "object" } },
	run: () => {
		throw new Error("It is broken.");
	},
});
const remote = { name: "where", description: "Remote.", parameters: { type: "object" as const } };
const helper = new Agent({ name: "helper", description: "Helps.", model: scriptedModel(() => "Helped.") });

function open(agent: Partial<AgentOptions> = {}, more: Partial<InspectedOptions> = {}) {
	const model = scriptedModel(() => "First.", { modelId: "clever-1" });
	const wise = scriptedModel(
		() => ({ text: "Wiser.", toolCalls: [{ name: "pay", arguments: { euros: 1 } }] }),
		{
			modelId: "wise-2",
		},
	);
	const made = inspect([], {
		models: { wise },
		inspector: { playground: "models-and-tools" },
		...more,
		agent: {
			...{ model, system: "Be brief.", tools: [pay, fails, remote], subagents: [helper] },
			prices: { "wise-2": { input: 1, output: 1 } },
			...agent,
		},
	});
	opened.push(made);
	const entries = async () => (await made.get("session/s/entries")).body.entries;
	return { ...made, model, wise, entries };
}

const answerSeq = (entries: readonly { kind: string; seq: number }[]) =>
	entries.find(({ kind }) => kind === "assistant")?.seq;

describe("a request that is tried", () => {
	test("is that of the answer with the given model, instructions and message, and leaves no trace", async () => {
		const { say, post, get, entries, wise } = open();
		await say("s", "One");
		await say("s", "Two");
		const before = await entries();
		const seq = answerSeq(before);
		const given = { seq, model: "wise", systemPrompt: "Be long.", input: "Really?", maxTokens: 9 };
		const { status, body } = await post("session/s/try-model", given);
		expect(status).toBe(200);
		expect(body).toMatchObject({ modelId: "wise-2", stopReason: "tool_calls", cost: expect.any(Number) });
		expect(body.message.content).toMatchObject([{ text: "Wiser." }]);
		expect(body.message.toolCalls).toMatchObject([{ toolName: "pay" }]);
		const [request] = wise.requests;
		expect(request?.system).toBe("Be long.");
		expect(request?.params).toMatchObject({ maxOutputTokens: 9 });
		expect(request?.messages.map(({ type }) => type)).toEqual(["user", "user"]);
		expect(request?.tools?.map(({ name }) => name)).toContain("delegate_to_helper");
		expect(await entries()).toEqual(before);
		expect(inputs).toEqual([]);
		expect((await get("sessions")).body.sessions).toHaveLength(1);
	});

	test("is without a seq the conversation so far, with the session's own model and instructions", async () => {
		const { say, post, model } = open();
		await say("s", "One");
		expect((await post("session/s/try-model", { input: "And?" })).body.modelId).toBe("clever-1");
		const request = model.requests.at(-1);
		expect([request?.system, request?.messages.length]).toEqual(["Be brief.", 3]);
	});

	test("that the provider refuses is an error with its masked message", async () => {
		const key = "sk-abcDEF0123456789abcDEF0123456789";
		const broken = scriptedModel([{ error: new Error(`The key ${key} is out of credit.`) }]);
		const { say, post } = open({}, { models: { broken } });
		await say("s", "One");
		const { status, body } = await post("session/s/try-model", { model: "broken" });
		expect([status, body.code]).toEqual([502, "trial_failed"]);
		expect(body.error).toContain("is out of credit");
		expect(body.error).not.toContain(key);
	});

	test("is refused with a wrong field, an unknown model, or a model that is a function", async () => {
		const { say, post } = open();
		await say("s", "One");
		const code = async (body: object) => (await post("session/s/try-model", body)).body.code;
		for (const body of [{ seq: 0 }, { model: "" }, { temperature: -1 }, { maxTokens: 1.5 }, { other: 1 }])
			expect(await code(body)).toBe("invalid_input");
		expect(await code({ model: "nobody" })).toBe("unknown_model");
		expect((await post("session/none/try-model", {})).body.code).toBe("session_not_found");
	});
});

describe("a tool that is tried", () => {
	test("runs once with the given input, and its result is masked and not recorded", async () => {
		inputs.length = 0;
		const { say, post, entries } = open();
		await say("s", "One");
		const before = await entries();
		const { body } = await post("session/s/try-tool", { tool: "pay", input: { euros: 3 } });
		expect(body).toMatchObject({ isError: false, streamed: "paying", result: { paid: 3 } });
		expect(JSON.stringify(body)).not.toContain("hunter2");
		expect(inputs).toEqual([{ euros: 3 }]);
		expect(await entries()).toEqual(before);
		const failed = await post("session/s/try-tool", { tool: "fails" });
		expect(failed.body).toMatchObject({ isError: true, result: expect.stringContaining("It is broken.") });
		inputs.length = 0;
	});

	test("is refused with an input that does not fit, and if it has no function that a trial can run", async () => {
		const { say, post } = open();
		await say("s", "One");
		const code = async (body: object) => (await post("session/s/try-tool", body)).body.code;
		expect(await code({ tool: "pay", input: { euros: "three" } })).toBe("invalid_input");
		expect(await code({ tool: "nothing" })).toBe("tool_not_found");
		expect(await code({ tool: "where" })).toBe("trial_unsupported");
		expect(await code({ tool: "delegate_to_helper", input: { prompt: "x" } })).toBe("trial_unsupported");
		expect(await code({})).toBe("invalid_input");
		expect(inputs).toEqual([]);
	});
});

describe("the playground", () => {
	test("allows models by default, tools only if the operator says so, and nothing if it is off", async () => {
		const usual = open({}, { inspector: {} });
		const off = open({}, { inspector: { playground: "off" } });
		for (const each of [usual, off]) await each.say("s", "One");
		expect((await usual.get("about")).body.playground).toBe("models");
		expect((await usual.post("session/s/try-model", {})).status).toBe(200);
		expect((await usual.post("session/s/try-tool", { tool: "pay" })).body.code).toBe("route_not_found");
		expect((await off.get("about")).body.playground).toBe("off");
		expect((await off.post("session/s/try-model", {})).body.code).toBe("route_not_found");
		expect(() => inspector({ playground: "all" as "off" })).toThrow("`playground`");
		expect(() => inspector({ playground: "models", inspection: { kind: "threads" } as never })).toThrow(
			"no effect on threads",
		);
	});

	test("is closed to other tenants, to callers who may not inspect, and to requests of other sites", async () => {
		const handler = { apiKeys: { "key-of-a": "a", "key-of-b": "b" } };
		const mayInspect = ({ tenant }: { tenant: string }) => tenant === "a";
		const { say, post, fetch } = open(
			{},
			{ handler, inspector: { playground: "models-and-tools", mayInspect } },
		);
		const [a, b] = [{ "x-api-key": "key-of-a" }, { "x-api-key": "key-of-b" }];
		await say("s", "One", b);
		for (const [path, body] of [
			["session/s/try-model", {}],
			["session/s/try-tool", { tool: "pay", input: { euros: 1 } }],
		] as const) {
			expect((await post(path, body)).status).toBe(401);
			expect((await post(path, body, b)).body.code).toBe("inspector_closed");
			expect((await post(path, body, a)).body.code).toBe("session_not_found");
			const plain = await fetch(`/api/inspect/${path}`, {
				method: "POST",
				headers: { "content-type": "text/plain", ...a },
				body: JSON.stringify(body),
			});
			expect((await plain.json()).code).toBe("unsupported_media_type");
		}
		expect(inputs).toEqual([]);
	});
});
