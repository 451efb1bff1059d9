// Servers as they are: each tool by itself, each block of a result by itself, and what a program says before it dies.
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { agent } from "holdfast";
import { describe, expect, test } from "vitest";
import { carelessServer } from "./careless-server.fixture.ts";
import { connectMcp } from "./connect-mcp.ts";
import { repairCallResult } from "./repair-result.ts";
import { repairTools } from "./repair-tool.ts";

const plain = { type: "object", properties: {} };
const good = { name: "good", inputSchema: plain };

async function offeredBy(tools: unknown): Promise<{ names: string[]; warnings: string[] }> {
	const warnings: string[] = [];
	const { transport } = carelessServer(tools);
	await using mcp = await connectMcp(
		{ s: { transport, protocol: "2025" } },
		{ onWarning: ({ code, message }) => warnings.push(`${code}: ${message}`) },
	);
	return { names: mcp.tools().map(({ toolName }) => toolName), warnings };
}

describe("a tool of a list", () => {
	test.each([
		["a union at the root", { inputSchema: { anyOf: [plain, plain] } }],
		["no schema", {}],
		["null as its schema", { inputSchema: null }],
		["an empty schema", { inputSchema: {} }],
		["PHP's empty schema", { inputSchema: [] }],
		["PHP's empty properties", { inputSchema: { type: "object", properties: [] } }],
		["null in its schema", { inputSchema: { type: "object", properties: null, required: null } }],
		["a property that is a text", { inputSchema: { type: "object", properties: { type: "object" } } }],
		["a type that is none", { inputSchema: { type: "object", properties: { a: { type: "wrong" } } } }],
		["an output schema that is none", { inputSchema: plain, outputSchema: { anyOf: [plain] } }],
		[
			"null in what describes it",
			{ inputSchema: plain, description: null, title: null, annotations: null, _meta: null },
		],
		["hints that are texts", { inputSchema: plain, annotations: { readOnlyHint: "yes" } }],
		["icons of another shape", { inputSchema: plain, icons: "x.png" }],
	])("with %s is offered, with the others", async (_name, members) => {
		const { names, warnings } = await offeredBy([{ name: "odd", ...members }, good]);
		expect({ names, warnings }).toEqual({ names: ["odd", "good"], warnings: [] });
	});

	test.each([
		["has no name", { name: "", inputSchema: plain }, /"number 1 of its list".*no name/],
		["is no object", "tool", /"number 1 of its list".*not an object/],
		["takes a text", { name: "odd", inputSchema: { type: "string" } }, /"odd".*type "string"/],
	])(
		"that %s is omitted with a warning that names it and the reason, and the others stay",
		async (_name, odd, words) => {
			const { names, warnings } = await offeredBy([odd, good]);
			expect(names).toEqual(["good"]);
			expect(warnings).toEqual([expect.stringMatching(words)]);
			expect(warnings[0]).toMatch(/^mcp_tool_unusable: /);
		},
	);

	test("of any shape removes no other tool, and a valid one is not changed", () => {
		fc.assert(
			fc.property(fc.jsonValue(), fc.jsonValue(), fc.string(), (odd, schema, name) => {
				const list = { tools: [odd, { name, inputSchema: schema, outputSchema: schema }, good] };
				const made = repairTools(list, () => {}) as { tools: unknown[] };
				expect(made.tools.at(-1)).toBe(good);
			}),
		);
		const right = { tools: [good] };
		expect(repairTools(right, () => {})).toBe(right);
	});

	test("that is added later is offered; an unreadable list is reported, and the tools stay", async () => {
		const server = carelessServer([good]);
		const warnings: string[] = [];
		await using mcp = await connectMcp(
			{ s: { transport: server.transport, protocol: "2025" } },
			{ onWarning: ({ code }) => warnings.push(code) },
		);
		server.tools = [good, { name: "later", inputSchema: null }];
		await server.changed();
		await expect.poll(() => mcp.tools().map(({ toolName }) => toolName)).toEqual(["good", "later"]);
		server.tools = "none";
		await server.changed();
		await expect.poll(() => warnings).toEqual(["mcp_list_failed"]);
		expect(mcp.tools()).toHaveLength(2);
	});
});

describe("a result", () => {
	const png = "iVBORw0KGgo=";
	const picture = expect.objectContaining({ type: "image", source: { type: "base64", data: png } });

	test.each([
		[
			"of an unknown type",
			{ content: [{ type: "hologram", data: "x" }] },
			expect.stringContaining('"hologram"] {"data":"x"}'),
		],
		["that is a data URL", { content: [{ type: "image", data: `data:image/png;base64,${png}` }] }, [picture]],
		[
			"with line ends in its base64",
			{ content: [{ type: "image", data: "iVBO\nRw0KGgo=", mimeType: "image/png" }] },
			[picture],
		],
		[
			"that is no picture",
			{ content: [{ type: "image", data: "<svg/>", mimeType: "image/png" }] },
			expect.stringContaining("cannot be read"),
		],
		["without the data that was promised", { content: [{ type: "text", text: "done" }] }, "done"],
		["whose data is a list", { content: [], structuredContent: [1, 2] }, "[1,2]"],
		["without content", {}, ""],
		["of a number as text", { content: [{ type: "text", text: 5 }] }, "5"],
		[
			"with notes of another shape",
			{ content: [{ type: "text", text: "a", annotations: 1, _meta: [] }], isError: "false" },
			"a",
		],
		[
			"of a link without a name",
			{ content: [{ type: "resource_link", uri: "file:///a" }] },
			"[resource file:///a at file:///a]",
		],
	])("%s is a result, because the effect has happened", async (_name, result, seen) => {
		const outputSchema = { type: "object", properties: { kind: { enum: ["a"] } }, required: ["kind"] };
		for (const promised of [{}, { outputSchema }]) {
			const { transport } = carelessServer([{ ...good, ...promised }], result);
			await using mcp = await connectMcp({ s: { transport, protocol: "2025" } });
			const model = scriptedModel([{ toolCalls: [{ name: "good" }] }, "ok"]);
			const { turn } = await agent({ model, tools: mcp.tools() }).generate("go");
			expect(turn.toolExecutions[0]).toMatchObject({ isError: false, result: seen });
		}
	});

	test("of any shape has content, and is repaired once", () => {
		fc.assert(
			fc.property(fc.jsonValue(), fc.jsonValue(), (given, block) => {
				const made = repairCallResult(given);
				expect(made).toHaveProperty("content");
				const listed = repairCallResult({ content: [block, { type: "image", ...(block as object) }] });
				expect(repairCallResult(listed)).toEqual(listed);
			}),
		);
	});
});

describe("a program that dies", () => {
	test("is reported with the last lines of its error output", async () => {
		const args = [
			"-e",
			"for (let n = 0; n < 50; n++) console.error('line ' + n); console.error('API_URL is not set'); process.exitCode = 3",
		];
		const failed = connectMcp({ s: { command: process.execPath, args, protocol: "2025" } });
		await expect(failed).rejects.toMatchObject({ code: "mcp_connect_failed" });
		const { message } = (await failed.catch((error) => error)) as Error;
		expect(message).toMatch(/last output was:\nline 31\n[\s\S]*API_URL is not set$/);
	});

	test("during a call is too", async () => {
		const program = join(import.meta.dirname, "dying-server.fixture.ts");
		await using mcp = await connectMcp({
			s: {
				command: process.execPath,
				args: ["--conditions=holdfast-source", "--no-warnings", program],
				protocol: "2025",
			},
		});
		const context = { signal: new AbortController().signal, idempotencyKey: "1", emit() {} } as never;
		await expect(mcp.tools()[0]?.run({}, context)).rejects.toMatchObject({
			code: "mcp_connection_lost",
			message: expect.stringContaining("last output was:\nout of disk"),
		});
	});
});
