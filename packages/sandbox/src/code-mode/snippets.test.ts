// Scripts that are kept under a name: their text, their limits, and their life with the session.
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { Agent, type AnyTool, memoryHost, tool } from "holdfast";
import { afterAll, describe, expect, test } from "vitest";
import { createSandbox } from "../sandbox.ts";
import { type CodeModeWithSnippetsOptions, codeModeWithSnippets } from "./code-mode-with-snippets.ts";
import { calledSnippets, lengthOfHead, type Snippets, withoutSnippets, withSnippets } from "./snippets.ts";

const sandbox = createSandbox({ workers: 1 });
afterAll(() => sandbox.close());

const double = tool({
	name: "double",
	description: "Doubles a number.",
	parameters: { type: "object", properties: { value: { type: "number" } }, required: ["value"] },
	run: ({ value }: { value: number }) => value * 2,
}) as AnyTool;

type Script = { readonly code: string; readonly save?: string };

function agentWith(
	scripts: readonly Script[],
	host = memoryHost(),
	options: Partial<CodeModeWithSnippetsOptions> = {},
) {
	const replies = scripts.map((script) => ({ toolCalls: [{ name: "run_code", arguments: script }] }));
	return new Agent({
		model: scriptedModel([...replies, "Done."]),
		plugins: [codeModeWithSnippets({ tools: [double], sandbox, ...options })],
		host,
	});
}

async function results(agent: Agent, key = "s"): Promise<readonly unknown[]> {
	const { turn } = await (await agent.session(key).send("Go.")).result();
	return (turn?.toolExecutions ?? []).map(({ result }) => result);
}

const total = {
	code: "let sum = 0;\nfor (const value of input?.values ?? []) sum += await tools.double({ value });\nreturn sum;",
	save: "total",
};
const use = { code: "return snippets.total({ values: [1, 2] });" };

describe("a kept script", () => {
	test("is called by later scripts, in calls and in sessions", async () => {
		const [kept, used] = await results(agentWith([total, use]));
		expect(kept).toContain("Kept. Call it as `await snippets.total(input)`.");
		expect(used).toBe("6");
		const { turn } = await agentWith([total, use]).generate("Go.");
		expect(turn.toolExecutions[1]?.result).toBe("6");
	});

	test("may call other ones, and itself", async () => {
		const count = {
			code: "return input?.n > 0 ? 1 + (await snippets.count({ n: input.n - 1 })) : 0;",
			save: "count",
		};
		const twice = { code: "return 2 * (await snippets.count({ n: input?.n ?? 0 }));", save: "twice" };
		const first = { code: "return 0;", save: "count" };
		const all = await results(agentWith([first, count, twice, { code: "return snippets.twice({ n: 3 });" }]));
		expect(all.at(-1)).toBe("6");
	});

	test("survives a restart, is copied to a fork and deleted with its session", async () => {
		const host = memoryHost();
		await results(agentWith([total], host));
		expect(await results(agentWith([use], host))).toEqual(["6"]);
		const forking = agentWith([use], host);
		await forking.session("s").fork("fork");
		expect(await results(forking, "fork")).toEqual(["6"]);
		await forking.session("s").delete();
		const [after] = await results(agentWith([use], host));
		expect(after).toContain("There are none yet.");
	});

	test("belongs to its session only", async () => {
		const host = memoryHost();
		await results(agentWith([total], host));
		const [other] = await results(agentWith([use], host), "other");
		expect(other).toContain('There is no snippet "total"');
	});

	test("is not required by a text that only resembles a call", async () => {
		const [result] = await results(agentWith([{ code: 'return "https://snippets.example.com/a";' }]));
		expect(result).toBe("https://snippets.example.com/a");
	});

	test("is listed on demand", async () => {
		const [, listed] = await results(agentWith([total, { code: "return snippets.list();" }]));
		expect(listed).toBe('["total"]');
	});

	test("is not kept if it fails", async () => {
		const [, missing] = await results(agentWith([{ code: "throw new Error('no');", save: "total" }, use]));
		expect(missing).toContain('There is no snippet "total". There are none yet.');
	});

	test("leaves the line and the column of errors as they are", async () => {
		const [, failed] = await results(
			agentWith([total, { code: "snippets.total; throw new Error('here');" }]),
		);
		expect(failed).toContain("here (line 1, column 27)");
	});

	test.each([
		[{ ...total, save: "no name" }, {}, "must be a letter"],
		[{ ...total, save: "list" }, {}, "must be a letter"],
		[{ ...total, save: "../x" }, {}, "must be a letter"],
		[total, { maxSnippetCharacters: 10 }, "at most 10 characters"],
	])("is refused: %j %j", async (script, options, message) => {
		const [result] = await results(agentWith([script], memoryHost(), options));
		expect(result).toContain(message);
	});

	test("is refused beyond the limit, unless it replaces another one", async () => {
		const scripts = [total, { ...total, save: "other" }, { code: "return 7;", save: "total" }, use];
		const all = await results(agentWith(scripts, memoryHost(), { maxSnippets: 1 }));
		expect(all[1]).toContain("keeps 1 snippets already. Replace one of them: total.");
		expect(all[3]).toBe("7");
	});
});

test("the text of a script is the same after its snippets are added and removed", () => {
	const code = fc.array(
		fc.constantFrom("a", "\n", "snippets.one()", "{", "}; ", "/* */", "`", "const snippets = {"),
	);
	fc.assert(
		fc.property(code, fc.string(), fc.boolean(), (parts, snippet, isKept) => {
			const script = parts.join("");
			const kept: Snippets = new Map([["one", snippet.replaceAll("snippets", "")]]);
			const called = calledSnippets(script, kept);
			const whole = withSnippets(script, { called: called as Snippets, names: ["one"], isKept });
			expect(withoutSnippets(whole)).toBe(script);
			expect(whole.slice(lengthOfHead(whole)).startsWith(script)).toBe(true);
		}),
	);
});

test.each([{ maxSnippets: 0 }, { maxSnippetCharacters: 1.5 }, { unknown: 1 }])("refuses %j", (options) => {
	expect(() => codeModeWithSnippets({ tools: [double], ...options } as never)).toThrow();
});
