import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { agent, memoryHost } from "holdfast";
import { expect, test } from "vitest";
import { withoutPatterns } from "./client-schema.ts";
import { sessionService } from "./session-service.ts";

/** Whether a tool whose arguments have this schema is given these. */
async function takes(parameters: object, given: Record<string, unknown>): Promise<boolean> {
	let isGiven = false;
	const run = (): void => {
		isGiven = true;
	};
	const tool = { name: "take", description: "Takes.", parameters: { ...parameters }, run };
	const model = scriptedModel([{ toolCalls: [{ name: "take", arguments: given }] }, "done"]);
	await agent({ model, tools: [tool] }).generate("go");
	return isGiven;
}

test("a value that a schema accepts is also accepted without its patterns", async () => {
	const leaf = fc.constantFrom<object>(
		{ pattern: "^a" },
		{ type: "string", pattern: "b$" },
		{ type: "string", minLength: 2 },
		{ type: "number" },
		{ $ref: "#/$defs/one" },
	);
	const { schema } = fc.letrec<{ schema: object }>((tie) => {
		const list = fc.array(tie("schema"), { minLength: 1, maxLength: 3 });
		return {
			schema: fc.oneof(
				{ maxDepth: 4, withCrossShrink: true },
				leaf,
				tie("schema").map((not) => ({ not })),
				list.map((oneOf) => ({ oneOf })),
				list.map((anyOf) => ({ anyOf })),
				list.map((allOf) => ({ allOf })),
				tie("schema").map((items) => ({ type: "array", items })),
				fc.tuple(tie("schema"), tie("schema")).map(([a, p]) => ({
					properties: { a },
					patternProperties: { "^p": p },
					additionalProperties: false,
				})),
			),
		};
	});
	const text = fc.constantFrom("", "a", "ab", "cb", "c");
	const value = fc.oneof(
		text,
		fc.nat(3),
		fc.array(text),
		fc.dictionary(fc.constantFrom("a", "p1", "x"), text),
	);
	await fc.assert(
		fc.asyncProperty(schema, leaf, value, async (inner, one, given) => {
			const whole = { properties: { inner }, $defs: { one: "$ref" in one ? {} : one } };
			fc.pre(await takes(whole, { inner: given }));
			expect(await takes(withoutPatterns(whole, "s"), { inner: given })).toBe(true);
		}),
		{ numRuns: 500 },
	);
});

test("a client's regular expressions are removed from its schema everywhere, including their `not`", () => {
	const schema = {
		type: "object",
		properties: {
			pattern: { type: "string", pattern: "(a+)+$", minLength: 2 },
			list: { items: [{ pattern: "b" }], const: { pattern: "c" } },
		},
		patternProperties: { "(x+)+$": { type: "number" } },
		additionalProperties: false,
		anyOf: [{ required: ["pattern"] }, { not: { pattern: "d" } }],
		$defs: { one: { pattern: "e" } },
	};
	expect(withoutPatterns(schema, "s")).toEqual({
		type: "object",
		properties: {
			pattern: { type: "string", minLength: 2 },
			list: { items: [{}], const: { pattern: "c" } },
		},
		additionalProperties: true,
		anyOf: [{ required: ["pattern"] }, {}],
		$defs: { one: {} },
	});
});

test("a tool whose schema would block the server blocks nothing, and the model sees it whole", async () => {
	const parameters = {
		type: "object",
		properties: { text: { type: "string", pattern: "^(a+)+$" }, count: { type: "number" } },
	};
	const slow = `${"a".repeat(40)}!`;
	const call = (id: string, given: object) => ({
		name: "match",
		id,
		arguments: given as Record<string, unknown>,
	});
	const model = scriptedModel([{ toolCalls: [call("a", { text: slow }), call("b", { count: "no" })] }]);
	const service = sessionService({ host: memoryHost(), agent: { model }, clientsMaySet: ["tools"] });
	const tools = [{ name: "match", description: "Matches.", parameters }];
	const { after } = await service.submit("t", "s", { input: "go", context: { tools } });
	for await (const batch of service.follow("t", "s", { after, until: "complete" })) void batch;
	const info = await service.get("t", "s");
	expect(info?.pendingToolCalls).toMatchObject([{ id: "a", arguments: { text: slow } }]);
	expect(info?.messages.at(-1)).toMatchObject({ role: "tool", toolCallId: "b", isError: true });
	expect(model.requests[0]?.tools?.[0]?.parameters).toEqual(parameters);
	await service.close();
});

test("an endlessly nested schema is rejected", async () => {
	const deep = JSON.parse(`${'{"items":'.repeat(5_000)}{}${"}".repeat(5_000)}`) as Record<string, unknown>;
	const service = sessionService({
		host: memoryHost(),
		agent: { model: scriptedModel([]) },
		clientsMaySet: ["tools"],
	});
	const context = { tools: [{ name: "deep", description: "", parameters: deep }] };
	await expect(service.submit("t", "s", { input: "go", context })).rejects.toMatchObject({
		code: "invalid_input",
		message: expect.stringContaining("context.tools[0].parameters"),
	});
	await service.close();
});
