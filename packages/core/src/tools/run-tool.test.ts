import { UPPError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { normaliseTool, normaliseTools } from "./normalise-tool.ts";
import { describeError, runTool, stackOf } from "./run-tool.ts";
import { contextOf } from "./tool-context.fixture.ts";
import type { AnyTool, EngineTool, ToolOutcome } from "./types.ts";

interface Ran extends ToolOutcome {
	readonly deltas: readonly string[];
}

async function carried(engineTool: EngineTool, input: unknown = {}): Promise<Ran> {
	const deltas: string[] = [];
	const outcome = await runTool(engineTool, input, contextOf(), (delta) => deltas.push(delta));
	return { ...outcome, deltas };
}

const run = (body: NonNullable<AnyTool["run"]>) => carried(normaliseTool({ name: "a", run: body }));
const execute = (body: () => unknown) => carried(normaliseTool({ name: "a", execute: body }));
const executeAiSdk = (body: () => unknown) =>
	carried(normaliseTools({ a: { inputSchema: { type: "object" }, execute: body } }).get("a") as EngineTool);

describe("a plain result", () => {
	test("is kept unchanged, sync or promised", async () => {
		const found = { list: [1, { deep: null }] };
		expect(await run(() => "text")).toEqual({ output: "text", isError: false, deltas: [] });
		expect((await run(async () => found)).output).toBe(found);
		expect((await run(() => 0)).output).toBe(0);
		expect((await run(() => null)).output).toBe(null);
		expect((await run(() => undefined)).output).toBe("");
	});

	test("is awaited only if it is a promise", async () => {
		const outcomeOf = (body: NonNullable<AnyTool["run"]>) =>
			runTool(normaliseTool({ name: "a", run: body }), {}, contextOf(), () => {});
		expect(outcomeOf(() => "text")).toEqual({ output: "text", isError: false });
		const thrown = new Error("No.");
		const failing = (): never => {
			throw thrown;
		};
		expect(outcomeOf(failing)).toEqual({ output: "No.", isError: true, error: thrown });
		expect(outcomeOf(async () => "text")).toBeInstanceOf(Promise);
	});

	test("that JSON cannot represent is converted for the model", async () => {
		const { output } = await run(() => ({
			when: new Date(0),
			big: 10n,
			map: new Map([["a", 1]]),
			set: new Set([1]),
			not: Number.NaN,
			bytes: Buffer.from("hi"),
			gone: undefined,
		}));
		expect(output).toEqual({
			when: "1970-01-01T00:00:00.000Z",
			big: "10",
			map: { a: 1 },
			set: [1],
			not: "NaN",
			bytes: "aGk=",
		});
		expect((await run(() => 10n)).output).toBe("10");
	});

	test("binary data, regular expressions and errors in it are converted for the model", async () => {
		const { buffer } = new Uint8Array([1, 2, 3, 4]);
		const { output } = await run(() => ({
			buffer,
			view: new DataView(buffer, 1, 2),
			floats: new Float64Array([0.5, 2]),
			big: new BigInt64Array([1n]),
			pattern: /a+/g,
			error: new TypeError("no"),
			at: new URL("http://x.test/"),
		}));
		expect(output).toEqual({
			buffer: "AQIDBA==",
			view: "AgM=",
			floats: [0.5, 2],
			big: ["1"],
			pattern: "/a+/g",
			error: { name: "TypeError", message: "no" },
			at: "http://x.test/",
		});
	});

	class Secret {
		readonly #key = "private";
		get key() {
			return this.#key;
		}
	}
	test.each<[string, unknown, RegExp]>([
		["a function", function source() {}, /it is a function/],
		["a symbol", Symbol("s"), /it is a symbol/],
		["a Response", new Response("body"), /Response/],
		["a WeakMap", new WeakMap(), /WeakMap/],
		["a WeakSet", new WeakSet(), /WeakSet/],
		["a Blob", new Blob(["x"]), /Blob/],
		["a File within", { files: [new File(["x"], "x.txt")] }, /File/],
		["a promise that was not awaited", { found: Promise.resolve(1) }, /Promise/],
		["a Map with a Response", new Map([["a", new Response("x")]]), /Response/],
		["an object whose members are all private", new Secret(), /Secret/],
		["an object without a class's name", new (class {})(), /without a name/],
		["an object that says it is nothing", { toJSON: () => undefined }, /toJSON/],
	])("that is %s is an error, and not its source text or an empty object", async (_, value, why) => {
		const { output, isError } = await run(() => value);
		expect(isError).toBe(true);
		expect(output).toMatch(/^The tool ran, but its result cannot be written as JSON/);
		expect(output).toMatch(why);
		const asDetails = await execute(() => ({ output: "kept", details: { value } }));
		expect(asDetails).toMatchObject({ output: "kept", isError: false });
	});

	test("plain objects from any constructor are kept, including empty ones", async () => {
		const bare = Object.create(null);
		expect((await run(() => ({ a: {}, b: [], c: bare, d: undefined, big: 1n }))).output).toEqual({
			a: {},
			b: [],
			c: {},
			big: "1",
		});
	});

	test("that is circular is an error that explains that the tool ran", async () => {
		const circular: Record<string, unknown> = {};
		circular.self = circular;
		expect(await run(() => circular)).toMatchObject({
			isError: true,
			output: expect.stringMatching(/^The tool ran, but .*circular/),
		});
	});
});

describe("output with details", () => {
	test("of the API dialect's execute is split, promised or not, without deltas", async () => {
		const result = { output: "3", details: { sum: 3 } };
		expect(await execute(async () => result)).toEqual({ ...result, isError: false, deltas: [] });
		expect(await execute(() => ({ output: "3" }))).toEqual({ output: "3", isError: false, deltas: [] });
	});

	test("of run is split only if it has exactly that form", async () => {
		expect(await run(() => ({ output: "3", details: 1 }))).toMatchObject({ output: "3", details: 1 });
		expect((await run(() => ({ output: "3", exitCode: 0 }))).output).toEqual({ output: "3", exitCode: 0 });
		expect((await run(() => ({ output: "3" }))).output).toEqual({ output: "3" });
	});

	test("that cannot be serialised keeps the output and marks the details", async () => {
		const circular: Record<string, unknown> = {};
		circular.self = circular;
		for (const details of [
			circular,
			{ size: 10n },
			() => 1,
			new Blob(["x"]),
			{ found: Promise.resolve(1) },
		]) {
			expect(await execute(() => ({ output: "kept", details }))).toEqual({
				output: "kept",
				details: { unserialisable: expect.any(String) },
				isError: false,
				deltas: [],
			});
		}
	});
});

describe("a streaming tool", () => {
	test("emits each delta before the next is requested, then completes", async () => {
		const emitted: string[] = [];
		const engineTool = normaliseTool({
			name: "a",
			async *execute() {
				yield { type: "delta", delta: "one" };
				expect(emitted).toEqual(["one"]);
				yield { type: "delta", delta: "two" };
				expect(emitted).toEqual(["one", "two"]);
				yield { type: "complete", output: "both", details: { count: 2 } };
			},
		});
		const outcome = await runTool(engineTool, {}, contextOf(), (delta) => emitted.push(delta));
		expect(outcome).toEqual({ output: "both", details: { count: 2 }, isError: false });
	});

	test("without complete yields its joined deltas, or the empty string [API-019]", async () => {
		const deltas = await execute(async function* () {
			yield { type: "delta", delta: "a" };
			yield { type: "delta", delta: "b" };
		});
		expect(deltas).toMatchObject({ output: "ab", isError: false, deltas: ["a", "b"] });
		expect(await execute(async function* () {})).toMatchObject({ output: "", isError: false });
	});

	test("is closed after complete, and no later value is requested", async () => {
		let closed = false;
		const outcome = await execute(async function* () {
			try {
				yield { type: "complete", output: "done" };
				throw new Error("must not be reached");
			} finally {
				closed = true;
			}
		});
		expect(outcome).toMatchObject({ output: "done", isError: false });
		expect(closed).toBe(true);
	});

	test("can yield plain text and return its result", async () => {
		const outcome = await run(async function* () {
			yield "working ";
			yield "on it";
			return { answer: 42 };
		});
		expect(outcome).toMatchObject({ output: { answer: 42 }, deltas: ["working ", "on it"] });
	});

	test("that throws half-way has failed, with its deltas emitted", async () => {
		const outcome = await execute(async function* () {
			yield { type: "delta", delta: "a" };
			throw new Error("half-way");
		});
		expect(outcome).toMatchObject({ isError: true, output: "half-way", deltas: ["a"] });
	});

	test("that ignores its signal is closed at its next value after the run is cancelled", async () => {
		const cancel = new AbortController();
		let closed = false;
		const engineTool = normaliseTool({
			name: "a",
			async *run() {
				try {
					while (true) yield "tick";
				} finally {
					closed = true;
				}
			},
		});
		const deltas: string[] = [];
		const outcome = await runTool(engineTool, {}, contextOf({ signal: cancel.signal }), (delta) => {
			if (deltas.push(delta) === 3) cancel.abort(new Error("cancelled"));
		});
		expect(outcome).toMatchObject({ isError: true, output: "cancelled" });
		expect([deltas.length, closed]).toEqual([3, true]);
	});

	test("of the AI SDK ends with the last value it yields, unless those are events", async () => {
		const last = await executeAiSdk(async function* () {
			yield { status: "loading" };
			yield "done";
		});
		expect(last).toMatchObject({ output: "done", deltas: [] });
		const events = await executeAiSdk(async function* () {
			yield { type: "delta", delta: "a" };
			yield { type: "complete", output: "b" };
		});
		expect(events).toMatchObject({ output: "b", deltas: ["a"] });
	});
});

describe("a tool that fails", () => {
	test("with an error of the model layer explains it without the provider's own text", () => {
		const own = new UPPError("Incorrect API key: sk-1", "AUTHENTICATION_FAILED", "acme", "llm", 401);
		const meant = "The model cannot be used at the moment.";
		for (const [error, said] of [
			[own, meant],
			[new Error("No summary", { cause: own }), "No summary"],
			[new Error(`No summary: ${own.message}`, { cause: own }), meant],
		] as const)
			expect(describeError(error)).toBe(said);
	});

	test("by throwing or rejecting has the error as its outcome, including the cause", async () => {
		const error = new Error("fetch failed", { cause: new Error("ECONNREFUSED") });
		const failures = [
			() => {
				throw error;
			},
			() => Promise.reject(error),
		];
		for (const fail of failures) {
			expect(await run(fail)).toEqual({
				isError: true,
				output: "fetch failed: ECONNREFUSED",
				error,
				deltas: [],
			});
		}
	});

	test("with a value that is not an error still reports the value", async () => {
		expect((await run(() => Promise.reject("no luck"))).output).toBe("no luck");
		expect((await run(() => Promise.reject({ code: 7 }))).output).toBe('{"code":7}');
		expect((await run(() => Promise.reject())).output).toBe("The tool failed without a reason.");
		expect((await run(() => Promise.reject(new TypeError()))).output).toBe("TypeError");
	});
});

test("an error whose message cannot be read becomes an ordinary error result", async () => {
	const unreadable = new Error("hidden");
	Object.defineProperty(unreadable, "message", {
		get() {
			throw new Error("no message");
		},
	});
	const outcome = await run(() => {
		throw unreadable;
	});
	expect(outcome).toMatchObject({ isError: true, error: unreadable });
	expect(outcome.output).toBe("The tool failed with an error that cannot be read.");
});

describe("the stack of an error that a tool threw", () => {
	test("has its frames, but no line of its message", () => {
		const stack = stackOf(new Error("first line\n    at secret (hidden.ts:1:1)"));
		expect(stack).toMatch(/run-tool\.test\.ts/);
		expect(stack).not.toMatch(/first line|secret/);
	});

	test("is short, and absent if there is none", () => {
		const long = Object.assign(new Error("x"), {
			stack: `Error: x\n${"    at f (file.ts:1:1)\n".repeat(1_000)}`,
		});
		expect(stackOf(long)?.length).toBeLessThanOrEqual(2_000);
		const unreadable = Object.defineProperty(new Error("x"), "stack", {
			get: () => {
				throw new Error("no");
			},
		});
		for (const thrown of ["text", undefined, {}, unreadable]) expect(stackOf(thrown)).toBeUndefined();
	});
});
