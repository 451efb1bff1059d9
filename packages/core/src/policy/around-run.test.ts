import { UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { AgentState } from "../state/agent-state.ts";
import type { GenerateResult } from "../state/generate-result.ts";
import { aroundRun } from "./around-run.ts";
import { contextOf, resultOf } from "./middleware/middleware-face.fixture.ts";
import type { Middleware, MiddlewareContext } from "./middleware/middleware-face.ts";

const answer = resultOf("done");
const broken = new Error("broken");

/** A middleware that logs the calls of its functions. */
function noting(name: string, log: string[], change: Partial<Middleware> = {}): Middleware {
	return {
		name,
		before() {
			log.push(`${name}.before`);
		},
		after(_, result) {
			log.push(`${name}.after`);
			return result;
		},
		onError() {
			log.push(`${name}.onError`);
		},
		...change,
	};
}

describe("middlewares around a call", () => {
	test("run in order before it and in reverse order after it, each function once", async () => {
		const log: string[] = [];
		const list = ["a", "b", "c"].map((name) => noting(name, log));
		const result = await aroundRun(list, contextOf(), async () => {
			log.push("call");
			return answer;
		});
		expect(result).toBe(answer);
		expect(log).toEqual(["a.before", "b.before", "c.before", "call", "c.after", "b.after", "a.after"]);
	});

	test("need none of the functions", async () => {
		expect(await aroundRun([{ name: "a" }], contextOf(), async () => answer)).toBe(answer);
	});

	test("cost nothing if absent: the call starts at once", () => {
		let called: MiddlewareContext | undefined;
		const context = contextOf();
		const promise = Promise.resolve(answer);
		const returned = aroundRun([], context, (given) => {
			called = given;
			return promise;
		});
		expect(called).toBe(context);
		expect(returned).toBe(promise);
	});

	test("pass on the context that `before` returned, and keep it if it returned nothing [UAP-098]", async () => {
		const input = new UserMessage("changed");
		const state = AgentState.initial().withReasoning("changed");
		const seen: MiddlewareContext[] = [];
		const list: Middleware[] = [
			{ name: "a", before: async (context) => ({ ...context, input, state }) },
			{ name: "b", before: (context) => void seen.push(context) },
		];
		await aroundRun(list, contextOf(), async (context) => {
			seen.push(context);
			return answer;
		});
		expect(seen.map((context) => [context.input, context.state])).toEqual([
			[input, state],
			[input, state],
		]);
		expect(seen[0]?.state).toBe(state);
	});

	test("return the result of `after` to their caller, with the context of the call", async () => {
		const state = AgentState.initial().withReasoning("changed");
		const replaced = resultOf("replaced");
		const given: [MiddlewareContext, GenerateResult][] = [];
		const list: Middleware[] = [
			{
				name: "outer",
				after: async (context, result) => {
					given.push([context, result]);
					return result;
				},
			},
			{ name: "inner", before: (context) => ({ ...context, state }), after: async () => replaced },
		];
		expect(await aroundRun(list, contextOf(), async () => answer)).toBe(replaced);
		expect(given).toHaveLength(1);
		expect(given[0]?.[0].state).toBe(state);
		expect(given[0]?.[1]).toBe(replaced);
	});

	test("share one metadata object, even if a `before` returned another one", async () => {
		const context = contextOf();
		const seen: unknown[] = [];
		const list: Middleware[] = [
			{
				name: "a",
				before: (given) => {
					given.metadata.a = 1;
				},
				after: (given, result) => {
					seen.push({ ...given.metadata });
					return result;
				},
			},
			{ name: "b", before: (given) => ({ ...given, metadata: { b: 2 } }) },
		];
		await aroundRun(list, context, async (given) => {
			expect(given.metadata).toBe(context.metadata);
			given.metadata.call = 3;
			return answer;
		});
		expect(seen).toEqual([{ a: 1, b: 2, call: 3 }]);
	});
});

describe("middlewares around a call that fails", () => {
	const failing = async (): Promise<GenerateResult> => {
		throw broken;
	};

	test("run in reverse order, and the original error continues if they return nothing", async () => {
		const log: string[] = [];
		const list = [noting("a", log), noting("b", log)];
		await expect(aroundRun(list, contextOf(), failing)).rejects.toBe(broken);
		expect(log).toEqual(["a.before", "b.before", "b.onError", "a.onError"]);
	});

	test("can return a result instead, in the call and in a `before` [UAP-100]", async () => {
		const seen: unknown[] = [];
		const rescue: Middleware = {
			name: "rescue",
			onError: (context, error) => {
				seen.push(context.metadata, error);
				return answer;
			},
		};
		const refusing: Middleware = {
			name: "refusing",
			before() {
				throw broken;
			},
		};
		const context = contextOf();
		const never = async (): Promise<GenerateResult> => expect.fail("the call was made");
		expect(await aroundRun([rescue], context, failing)).toBe(answer);
		expect(await aroundRun([rescue, refusing], context, never)).toBe(answer);
		expect(await aroundRun([refusing, rescue], context, never)).toBe(answer);
		expect(seen).toEqual([context.metadata, broken, context.metadata, broken, context.metadata, broken]);
		await expect(aroundRun([refusing], context, never)).rejects.toBe(broken);
	});

	test("see a replaced error's result as an ordinary result further out", async () => {
		const log: string[] = [];
		const list = [noting("a", log), noting("b", log, { onError: () => answer }), noting("c", log)];
		expect(await aroundRun(list, contextOf(), failing)).toBe(answer);
		expect(log.slice(3)).toEqual(["c.onError", "a.after"]);
	});

	test("do not run `after` if their `before` did not run", async () => {
		const log: string[] = [];
		const refuse = (): never => {
			throw broken;
		};
		const list = [
			noting("a", log),
			noting("b", log, { before: refuse }),
			noting("c", log, { onError: () => answer }),
		];
		expect(await aroundRun(list, contextOf(), async () => answer)).toBe(answer);
		expect(log).toEqual(["a.before", "a.after"]);
	});

	test("keep the first error if an `onError` itself fails", async () => {
		const log: string[] = [];
		const list = [
			noting("a", log),
			noting("b", log, {
				onError() {
					throw new Error("another");
				},
			}),
		];
		await expect(aroundRun(list, contextOf(), failing)).rejects.toBe(broken);
		expect(log).toContain("a.onError");
	});

	test("further out handle an `after` that fails", async () => {
		const log: string[] = [];
		const list = [
			noting("a", log),
			noting("b", log, {
				after() {
					throw broken;
				},
			}),
			noting("c", log),
		];
		await expect(aroundRun(list, contextOf(), async () => answer)).rejects.toBe(broken);
		expect(log.slice(3)).toEqual(["c.after", "a.onError"]);
	});

	test("get an Error if another value was thrown, and the caller gets the thrown value", async () => {
		const seen: unknown[] = [];
		const list: Middleware[] = [{ name: "a", onError: (_, error) => void seen.push(error) }];
		const thrown = aroundRun(list, contextOf(), () => Promise.reject("words"));
		await expect(thrown).rejects.toBe("words");
		expect(seen).toEqual([new Error("words")]);
	});
});
