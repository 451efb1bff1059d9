import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ZodType, z } from "zod";
import { defineTool, validateToolName } from "./index.ts";

function defineWith(shape: Record<string, unknown>): () => unknown {
	return () => {
		const args = z.object(shape as Record<string, ZodType>);
		return defineTool({ description: "x", args, execute: () => ({ status: "success" }) } as never);
	};
}

/** The ways to put a schema into another one. */
const wrappers: ReadonlyArray<(inner: ZodType) => ZodType> = [
	(inner) => inner.optional(),
	(inner) => inner.nullable(),
	(inner) => z.array(inner),
	(inner) => z.object({ a: inner }),
	(inner) => z.record(z.string(), inner),
	(inner) => z.union([z.null(), inner]),
];

test.each(["needsApproval", "approval", "timeoutMs", "excute"])(
	"an option `%s`, which tools of a project do not have, is rejected",
	(name) => {
		const options = { description: "x", execute: () => ({ status: "success" }), [name]: true };
		expect(() => defineTool(options as never)).toThrow(
			expect.objectContaining({ code: "invalid_definition", data: { kind: "tool", field: name } }),
		);
	},
);

describe("arguments of a tool", () => {
	test("can have every type of the subset [SA-037]", () => {
		const shape = {
			a: z.string().min(1),
			b: z.number().int(),
			c: z.boolean(),
			d: z.null(),
			e: z.literal(["x", 1, true, null]),
			f: z.unknown(),
			g: z.enum(["a", "b"]),
			h: z.string().optional(),
			i: z.string().nullable(),
			j: z.number().default(1),
			k: z.array(z.string()),
			l: z.object({ m: z.string() }),
			n: z.record(z.string(), z.number()),
			o: z.union([z.string(), z.number()]),
			p: z.email(),
		};
		expect(defineWith(shape)).not.toThrow();
	});

	test.each([
		["date", z.date(), "`args.bad`"],
		["map", z.map(z.string(), z.string()), "`args.bad`"],
		["bigint", z.bigint(), "`args.bad`"],
		["transform", z.string().transform(Number), "`args.bad`"],
		["pipe", z.array(z.preprocess(String, z.string())), "`args.bad[]`"],
		["any", z.any(), "`args.bad`"],
		["lazy", z.lazy(() => z.string()), "`args.bad`"],
		["date in an object", z.object({ at: z.date() }), "`args.bad.at`"],
		["date in a union", z.union([z.string(), z.date()]), "`args.bad|1`"],
		["date in a record", z.record(z.string(), z.date()), "`args.bad.*`"],
		["a record with other keys", z.record(z.enum(["a"]), z.string()), "`args.bad`"],
		["a union of one", z.union([z.string()]), "`args.bad`"],
		["a bigint literal", z.literal(1n), "`args.bad`"],
		["no schema", "string", "`args.bad`"],
	])("cannot have: %s [SA-037]", (_name, bad, path) => {
		expect(defineWith({ good: z.string(), bad })).toThrow(path);
	});

	test("must be an object [SA-037]", () => {
		const options = { description: "x", args: z.string(), execute: () => ({ status: "success" }) };
		expect(() => defineTool(options as never)).toThrow("`args`");
	});

	test("can be nested seven wrappers deep and no deeper, of any kind [SA-038]", () => {
		const deep = fc.array(fc.constantFrom(...wrappers), { minLength: 1, maxLength: 10 });
		fc.assert(
			fc.property(deep, (chain) => {
				const schema = chain.reduce<ZodType>((inner, wrap) => wrap(inner), z.string());
				if (chain.length <= 7) expect(defineWith({ a: schema })).not.toThrow();
				else expect(defineWith({ a: schema })).toThrow("nested more than 7 deep");
			}),
		);
	});

	test("cannot contain themselves [SA-038]", () => {
		const node: ZodType = z.object({
			get next() {
				return node;
			},
		});
		expect(defineWith({ node })).toThrow("nested more than 7 deep");
	});
});

describe("defineTool", () => {
	test("reports missing options", () => {
		const execute = (): { status: "success" } => ({ status: "success" });
		expect(() => defineTool({ execute } as never)).toThrow("`description`");
		expect(() => defineTool({ description: "x" } as never)).toThrow("`execute`");
		expect(() => defineTool({ description: "x", execute, uses: "a" } as never)).toThrow("`uses`");
		expect(() => defineTool({ description: "x", execute, variables: [{}] } as never)).toThrow(
			"`variables[0].name`",
		);
		expect(() => defineTool({ description: "x", execute, executionMode: "remote" } as never)).toThrow(
			"`executionMode`",
		);
	});

	test("accepts its own return value", () => {
		const tool = defineTool({ description: "x", execute: () => ({ status: "success" }) });
		expect(defineTool(tool as never)).toEqual(tool);
	});
});

describe("names of tools", () => {
	test.each(["send_mail2", "a", "_a", "A-b", "x".repeat(64)])("can be %s [SA-036]", (name) => {
		expect(() => validateToolName(name)).not.toThrow();
	});

	test.each([
		"",
		"2send",
		"send mail",
		"send/mail",
		"a\\b",
		"provider:web",
		"mcp:files",
		"x".repeat(65),
		"ä",
		"a\n",
	])("cannot be %j [SA-036]", (name) => {
		expect(() => validateToolName(name)).toThrow(expect.objectContaining({ code: "invalid_tool_name" }));
	});
});
