// Middlewares in an agent: what they do around its calls, however it is called.

import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { agent } from "../../agent/agent.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { GenerateResult } from "../../state/generate-result.ts";
import { logging } from "./logging.ts";
import { resultOf } from "./middleware-face.fixture.ts";
import type { Middleware } from "./middleware-face.ts";
import { slidingWindow } from "./sliding-window.ts";

type Call = (given: ReturnType<typeof agent>) => Promise<unknown>;

const ways: Readonly<Record<string, Call>> = {
	generate: (given) => given.generate("hi"),
	stream: async (given) => {
		const stream = given.stream("hi");
		for await (const _ of stream);
		return stream.result;
	},
	ask: (given) => given.ask("hi", AgentState.initial()),
	query: (given) => given.query("hi"),
};

describe.each(Object.entries(ways))("%s", (_, call) => {
	test("passes the middlewares in order and back, each function once [UAP-102]", async () => {
		const log: string[] = [];
		const noting = (name: string): Middleware => ({
			name,
			before: () => void log.push(`${name}.before`),
			after: (__, result) => {
				log.push(`${name}.after`);
				return result;
			},
		});
		const model = scriptedModel(() => {
			log.push("model");
			return "hello";
		});
		const partial: Middleware = { name: "none of them" };
		await call(agent({ model, middleware: [noting("a"), noting("b"), partial, noting("c")] }));
		const out = ["c.after", "b.after", "a.after"];
		expect(log).toEqual(["a.before", "b.before", "c.before", "model", ...out]);
	});

	test("returns the result of `after` [UAP-099]", async () => {
		const replaced = resultOf("replaced");
		const seen: [string, GenerateResult][] = [];
		const middleware: Middleware = {
			name: "replacing",
			after: (context, result) => {
				seen.push([context.input.text, result]);
				return replaced;
			},
		};
		const given = await call(agent({ model: scriptedModel(["hello"]), middleware: [middleware] }));
		expect([replaced, replaced.turn]).toContain(given);
		expect(seen.map(([input, { turn }]) => [input, turn.response.text])).toEqual([["hi", "hello"]]);
	});

	test("returns the result of `onError` if the model fails, and the model's own error otherwise", async () => {
		const broken = new Error("broken");
		const recovered = resultOf("recovered");
		const model = scriptedModel(() => ({ error: broken }));
		const rescue: Middleware = {
			name: "rescue",
			onError: (__, error) => (error === broken ? recovered : undefined),
		};
		expect([recovered, recovered.turn]).toContain(await call(agent({ model, middleware: [rescue] })));
		await expect(call(agent({ model, middleware: [{ name: "none", onError() {} }] }))).rejects.toBe(broken);
	});
});

describe("an agent with middlewares", () => {
	test("works with the input and state that `before` returned", async () => {
		const model = scriptedModel(["hello"]);
		const middleware: Middleware = {
			name: "changing",
			before: (context) => ({
				...context,
				input: new UserMessage("changed"),
				state: context.state.withMessages([new UserMessage("earlier"), new AssistantMessage("yes")]),
			}),
		};
		const { state } = await agent({ model, middleware: [middleware] }).generate("hi");
		expect(model.requests[0]?.messages.map(({ text }) => text)).toEqual(["earlier", "yes", "changed"]);
		expect(state.messages.map(({ text }) => text)).toEqual(["earlier", "yes", "changed", "hello"]);
	});

	test("gives each request its own metadata, which is not in the state [UAP-101]", async () => {
		const seen: unknown[] = [];
		let now = 0;
		const timing: Middleware = {
			name: "timing",
			before: async (context) => {
				expect(context.metadata).toEqual({});
				context.metadata.startedAt = now;
			},
			after: async (context, result) => {
				seen.push({ ...context.metadata, took: now - (context.metadata.startedAt as number) });
				return result;
			},
			onError: (context) => void seen.push({ failed: true, ...context.metadata }),
		};
		const model = scriptedModel((__, call) => {
			now += 5;
			return call < 2 ? "hello" : { error: new Error("broken") };
		});
		const clerk = agent({ model, middleware: [timing] });
		const { state } = await clerk.generate("hi");
		await clerk.generate("hi", state);
		await clerk.generate("hi", state).catch(() => {});
		expect(seen).toEqual([
			{ startedAt: 0, took: 5 },
			{ startedAt: 5, took: 5 },
			{ failed: true, startedAt: 10 },
		]);
		expect(state.metadata).toEqual({});
	});

	test("sends the model the messages of a window, and keeps those as the conversation", async () => {
		const model = scriptedModel(() => "yes");
		const clerk = agent({ model, middleware: [slidingWindow(2)] });
		let state = AgentState.initial();
		for (const text of ["a", "b", "c", "d"]) state = (await clerk.generate(text, state)).state;
		expect(model.requests.at(-1)?.messages.map(({ text }) => text)).toEqual(["c", "yes", "d"]);
		expect(state.messages).toHaveLength(4);
	});

	test("ends after the step in which a middleware stops it", async () => {
		const look = { name: "look", description: "Looks.", parameters: { type: "object" }, run: () => "seen" };
		const lines: string[] = [];
		const call = { toolCalls: [{ name: "look" }] };
		const model = scriptedModel([call, call, call, "enough"]);
		const stopping: Middleware = { name: "stopping", stop: (_, state) => state.step === 2 };
		const middleware = [
			logging({ level: "debug", includeTiming: false, logger: (line) => lines.push(line) }),
			stopping,
		];
		const { turn } = await agent({ name: "clerk", model, tools: [look], middleware }).generate("look");
		expect(turn.cycles).toBe(2);
		expect(lines).toEqual([
			"[info] agent clerk started",
			"[debug] agent clerk step, step 1, 15 tokens",
			"[debug] agent clerk step, step 2, 30 tokens",
			"[info] agent clerk completed, step 2, 30 tokens",
		]);
	});
});
