// Scripts of a model that call tools: in calls and in sessions.
import { scriptedModel } from "@holdfast/testing";
import { Agent, AgentState, type AnyTool, agent, createSubAgentTool, tool } from "holdfast";
import type { Interceptor } from "holdfast/middleware";
import { definePlugin } from "holdfast/plugins";
import { afterAll, describe, expect, test } from "vitest";
import { createSandbox } from "../sandbox.ts";
import { type CodeModeOptions, codeMode } from "./code-mode.ts";

const sandbox = createSandbox({ workers: 1 });
afterAll(() => sandbox.close());

const double = tool({
	name: "double",
	description: "Doubles a number.",
	parameters: { type: "object", properties: { value: { type: "number" } }, required: ["value"] },
	run: ({ value }: { value: number }) => value * 2,
});

function modelWith(code: string) {
	return scriptedModel([{ toolCalls: [{ name: "run_code", arguments: { code } }] }, "Done."]);
}

async function inCall(
	code: string,
	tools: readonly AnyTool[] = [double],
	options: Partial<CodeModeOptions> = {},
) {
	const { turn } = await agent({
		model: modelWith(code),
		tools: [codeMode({ tools, sandbox, ...options })],
	}).generate("Go.");
	const [execution] = turn.toolExecutions;
	return { result: execution?.result, isError: execution?.isError };
}

describe("a script in a call", () => {
	test("calls tools one after another and concurrently, and returns a value", async () => {
		const code = `const first = await tools.double({ value: 1 });
			const [a, b] = await Promise.all([tools.double({ value: first }), tools.double({ value: 10 })]);
			return { a, b };`;
		expect(await inCall(code)).toEqual({ result: '{"a":4,"b":20}', isError: false });
	});

	test("catches the error of a failed call", async () => {
		const broken = { ...double, name: "broken", run: () => Promise.reject(new Error("no paper")) } as AnyTool;
		const code = "try { await tools.broken({ value: 1 }); } catch (error) { return error.message; }";
		expect((await inCall(code, [broken])).result).toContain("no paper");
	});

	test("that throws returns its error with the line of the script", async () => {
		const { result, isError } = await inCall(
			"const a = 1;\nconsole.log('a is', a);\nthrow new RangeError('too far');",
		);
		expect(isError).toBe(true);
		expect(result).toContain("RangeError: too far (line 3");
		expect(result).toContain("a is 1");
	});
});

describe("a script in a session", () => {
	test("waits for the approval of one call, and continues with the others' results", async () => {
		const ran: string[] = [];
		const pay = tool({
			name: "pay",
			description: "Pays.",
			parameters: { type: "object", properties: { euros: { type: "number" } }, required: ["euros"] },
			needsApproval: true,
			run: ({ euros }: { euros: number }) => {
				ran.push(`pay ${euros}`);
				return `paid ${euros}`;
			},
		});
		const price = tool({
			name: "price",
			description: "Price.",
			parameters: { type: "object", properties: {} },
			run: () => {
				ran.push("price");
				return 12;
			},
		});
		const code = "const euros = await tools.price(); return await tools.pay({ euros });";
		const session = new Agent({
			model: modelWith(code),
			tools: [codeMode({ tools: [pay, price], sandbox })],
		}).session("a");
		const { outcome, pending = [] } = await (await session.send("Pay.")).result();
		expect(outcome).toBe("waiting");
		expect(pending).toMatchObject([
			{ toolName: "pay", arguments: { euros: 12 }, path: [{ agent: "tool run_code" }] },
		]);
		const run = await session.answer([{ toolCallId: pending[0]?.toolCallId ?? "", approved: true }]);
		expect((await run.result()).text).toBe("Done.");
		expect(ran).toEqual(["price", "pay 12"]);
		const [trace] = (await session.state()).subagentTraces ?? [];
		expect(trace?.toolExecutions?.map(({ toolName }) => toolName)).toEqual(["price", "pay"]);
	});
});

test("a person sees the code before it runs, and can change it, if the tool requires approval", async () => {
	const options = { needsApproval: true, editableApproval: true } as const;
	const session = new Agent({
		model: modelWith("return 1"),
		tools: [codeMode({ tools: [double], sandbox, ...options })],
	}).session("a");
	const { pending = [] } = await (await session.send("Go.")).result();
	expect(pending).toMatchObject([{ toolName: "run_code", arguments: { code: "return 1" } }]);
	const input = { code: "return await tools.double({ value: 4 })" };
	const run = await session.answer([{ toolCallId: pending[0]?.toolCallId ?? "", approved: true, input }]);
	await run.result();
	const results = (await session.state()).messages.find(({ type }) => type === "tool_result");
	expect(results).toMatchObject({ results: [{ result: "8" }] });
});

test("an interrupted script ends, and none of its calls runs afterwards", async () => {
	const started = Promise.withResolvers<void>();
	const ran: string[] = [];
	const slow = tool({
		name: "slow",
		description: "Waits until it is stopped.",
		parameters: { type: "object", properties: {} },
		run: (_, { signal }) => {
			started.resolve();
			return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
		},
	});
	const late = tool({
		name: "late",
		description: "Runs late.",
		parameters: { type: "object", properties: {} },
		run: () => void ran.push("late"),
	});
	const code = "try { await tools.slow(); } catch {} await tools.late();";
	const session = new Agent({
		model: modelWith(code),
		tools: [codeMode({ tools: [slow, late], sandbox })],
	}).session("a");
	const run = await session.send("Go.");
	void run.result();
	await started.promise;
	await run.interrupt();
	expect((await run.result()).outcome).toBe("aborted");
	expect(ran).toEqual([]);
});

describe("a script under the policy of its caller", () => {
	const reader = tool({
		name: "read",
		description: "Reads a file.",
		parameters: { type: "object", properties: { file: { type: "string" } } },
		run: ({ file }: { file: string }) => `${file} contains key-abc123`,
	});
	const code = `const text = await tools.read({ file: "a.txt" });
		try { await tools.read({ file: "secret.txt" }); } catch (error) { return [text, error.message]; }`;
	const policy: Interceptor = {
		name: "policy",
		begin: () => ({
			toolCall: ({ toolName, input }) =>
				toolName === "read" && (input as { file: string }).file === "secret.txt"
					? { action: "reject-and-continue", message: "That file is private." }
					: undefined,
			toolResult: (result) => ({
				...result,
				output: String(result.output).replaceAll(/key-\w+/g, "[key]"),
			}),
		}),
	};

	test.each(["call", "session", "plugin"])(
		"cannot make calls that it forbids, and gets its replaced results: %s",
		async (where) => {
			const model = modelWith(code);
			const tools = [codeMode({ tools: [reader], sandbox })];
			const plugin = definePlugin({
				name: "policy",
				setup(host) {
					host.on("tool.call", ({ tool: name, input }) =>
						name === "read" && (input as { file: string }).file === "secret.txt"
							? { action: "reject-and-continue", message: "That file is private." }
							: undefined,
					);
					host.on("tool.result", ({ status, output }) =>
						status === "done"
							? { status, output: String(output).replaceAll(/key-\w+/g, "[key]") }
							: undefined,
					);
				},
			});
			const made =
				where === "plugin"
					? await Agent.create({ model, tools, plugins: [plugin] })
					: new Agent({ model, tools, middleware: [policy] });
			if (where === "call") await made.generate("Go.");
			else await (await made.session("a").send("Go.")).result();
			const shown = JSON.stringify(model.requests.at(-1)?.messages);
			expect(shown).toContain("a.txt contains [key]");
			expect(shown).toContain("That file is private.");
			expect(shown).not.toContain("key-abc123");
			await made.close();
		},
	);

	test("applies to any sub-agent tool that requests it, and to no other", async () => {
		const worker = () =>
			agent({
				model: scriptedModel([{ toolCalls: [{ name: "read", arguments: { file: "secret.txt" } }] }, "Read."]),
				tools: [reader],
			});
		const described = { name: "work", description: "Works.", parameters: { type: "object" } } as const;
		const ask = (policyOf: "own" | "caller") =>
			agent({
				model: scriptedModel([{ toolCalls: [{ name: "work", arguments: { task: "Work." } }] }, "Done."]),
				tools: [createSubAgentTool({ ...described, agent: worker(), policy: policyOf })],
				middleware: [policy],
			}).generate("Go.", AgentState.initial());
		const denied = (result: Awaited<ReturnType<typeof ask>>) =>
			JSON.stringify(result.state.subagentTraces).includes("private");
		expect(denied(await ask("own"))).toBe(false);
		expect(denied(await ask("caller"))).toBe(true);
	});

	test.each(["call", "session"])(
		"receives complete results if a plugin shortens the recorded ones: %s",
		async (where) => {
			const shorten = definePlugin({
				name: "shorten",
				setup(host) {
					host.on("result.record", ({ output }) => ({ output: `short: ${JSON.stringify(output)}` }));
				},
			});
			const list = tool({ name: "list", description: "Lists numbers.", run: () => [1, 2, 3] });
			const worker = new Agent({
				model: modelWith("return (await tools.list({})).length"),
				tools: [codeMode({ tools: [list], sandbox })],
				plugins: [shorten],
			});
			const { turn } = await (where === "call"
				? worker.generate("Go.", AgentState.initial())
				: (await worker.session("s").send("Go.")).result());
			expect(JSON.stringify(turn?.messages)).toContain(JSON.stringify('short: "3"').slice(1, -1));
		},
	);

	test("needs its caller: called by itself, the tool is rejected", async () => {
		await expect(codeMode({ tools: [reader], sandbox }).run({ code: "return 1" })).rejects.toMatchObject({
			code: "invalid_option",
		});
	});
});

describe("a hostile or broken script", () => {
	test.each([
		["an endless loop", "for (;;);", "limit of computing time. End the loop"],
		["a syntax error", "const = 1;", "line 1"],
		["a tool that does not exist", "await tools.unknown({})", "The tools are: double"],
		[
			"too many calls",
			"const all = []; for (let i = 0; i < 50; i++) all.push(tools.double({ value: i })); await Promise.all(all);",
			"at most 20 times",
		],
		[
			"10,000 calls at once",
			"return Promise.all(Array.from({ length: 10_000 }, (_, value) => tools.double({ value })))",
			"at most 20 times",
		],
		["a value that is no data", "return { f: () => 1 }", "Use plain data."],
		[
			"a proxy whose members throw",
			"return new Proxy({ a: 1 }, { get: () => { throw new Error('trap'); } })",
			"trap (line 1, column 5",
		],
		["a proxy as arguments", "await tools.double(new Proxy({}, {}))", 'missing required property "value"'],
		["a value that refers to itself", "const a = {}; a.a = a; return a", "cannot be written as JSON"],
		["a promise that never settles", "await new Promise(() => {})", "Await only calls of the tools"],
		["arguments that are no object", "await tools.double(5)", "takes one object"],
		[
			"calls that it does not await",
			"tools.double({ value: 1 }); throw new Error('early')",
			"Await each call",
		],
	])("%s ends with an error that explains why", async (_name, code, expected) => {
		const limited = createSandbox({ workers: 1, cpuLimitMs: 1_000 });
		const { result, isError } = await inCall(code, [double], { sandbox: limited, maxCalls: 20 });
		expect(isError).toBe(true);
		expect(String(result)).toContain(expected);
		await limited.close();
	});

	test("that starts more calls than it may runs none of them", async () => {
		let ran = 0;
		const counted = { ...double, run: () => ++ran } as AnyTool;
		const code = "await Promise.all(Array.from({ length: 10_000 }, (_, value) => tools.double({ value })))";
		const { result } = await inCall(code, [counted]);
		expect(result).toContain("RangeError: A script may call tools at most 1000 times (line 1");
		expect(result).toContain("did not run");
		expect(ran).toBe(0);
	});

	test("that returns a proxy returns a copy of its data", async () => {
		const { result } = await inCall("return new Proxy({ a: 1 }, { get: (_, name) => name + '!' })");
		expect(result).toBe('{"a":"a!"}');
	});

	test("that floods the console or returns a long text is shortened", async () => {
		const code = "for (let i = 0; i < 5000; i++) console.log('line', i); return 'x'.repeat(100_000);";
		const { result } = await inCall(code, [double], { maxOutput: 1_000 });
		expect(String(result).length).toBeLessThan(2_500);
		expect(result).toContain("characters omitted");
	});

	test("that ends without waiting for a call gets a note that the call did not run", async () => {
		const { result, isError } = await inCall("tools.double({ value: 1 }); return 'ok';");
		expect(isError).toBe(false);
		expect(result).toContain("did not run");
	});
});

describe("the description", () => {
	const many = Array.from({ length: 300 }, (_, at) => ({
		...double,
		name: `tool_${at}`,
		description: `Handles case ${at}.`,
	}));

	test("declares the tools, and only names them if there are many", () => {
		expect(codeMode({ tools: [double] }).description).toContain(
			"double(input: { value: number; }): Promise<any>;",
		);
		const { description } = codeMode({ tools: many, maxDeclarations: 5_000 });
		expect(description).toContain("tool_299");
		expect(description).not.toContain("Handles case 299.");
	});

	test("names a search that scripts can call", async () => {
		const { result } = await inCall("return searchTools('case 299')", many, { maxDeclarations: 5_000 });
		expect(result).toContain("Handles case 299.");
	});
});

test.each([
	[{ tools: [] }, "at least one tool"],
	[{ tools: [double], maxCalls: 0 }, "maxCalls"],
	[{ tools: [double], maxSteps: 3 }, "maxSteps"],
	[{ tools: [double], sandbox: {} }, "createSandbox"],
	[{ tools: [{ ...double, loadedBy: "search_tools" }] }, "searchTools()"],
	[
		{ tools: { web: { type: "provider", id: "openai.web_search", args: {} } } },
		"run by the model's provider",
	],
])("rejects %j", (options, expected) => {
	expect(() => codeMode(options as unknown as CodeModeOptions)).toThrow(expected);
});

test("150 calls one after another cost little more than the tools", async () => {
	const code =
		"let sum = 0; for (let i = 0; i < 150; i++) sum += await tools.double({ value: i }); return sum;";
	const session = new Agent({
		model: modelWith(code),
		tools: [codeMode({ tools: [double], sandbox })],
	}).session("a");
	const { outcome } = await (await session.send("Go.")).result();
	expect(outcome).toBe("completed");
	expect(JSON.stringify((await session.state()).messages)).toContain("22350");
});
