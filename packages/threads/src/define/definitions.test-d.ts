import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { ThreadState } from "../types/index.ts";
import { defineEffect, defineHook, defineTool } from "./index.ts";

describe("inferred types", () => {
	test("a tool's function gets the type of its schema", () => {
		defineTool({
			description: "x",
			args: z.object({
				a: z.string(),
				b: z.number().default(1),
				c: z.array(z.object({ d: z.enum(["x", "y"]), e: z.union([z.string(), z.null()]) })).optional(),
				f: z.record(z.string(), z.unknown()),
				g: z.email().nullable(),
			}),
			execute: (state, args) => {
				expectTypeOf(state).toEqualTypeOf<ThreadState>();
				expectTypeOf(args.a).toEqualTypeOf<string>();
				expectTypeOf(args.b).toEqualTypeOf<number>();
				expectTypeOf(args.c).toEqualTypeOf<{ d: "x" | "y"; e: string | null }[] | undefined>();
				return { status: "success" };
			},
		});
	});

	test("a tool without arguments gets only the state", () => {
		defineTool({
			description: "x",
			execute: async (...given) => {
				expectTypeOf(given).toEqualTypeOf<[state: ThreadState]>();
				return { status: "success", result: "done" };
			},
		});
		// @ts-expect-error a date is no argument of a tool
		defineTool({ description: "x", args: z.object({ a: z.date() }), execute: () => ({ status: "success" }) });
	});

	test("a tool with `uses` can queue nothing else", () => {
		defineTool({
			description: "x",
			uses: ["other"],
			execute: async (state) => {
				await state.queueTool("other");
				// @ts-expect-error it said that it uses `other` only
				await state.invokeTool("another");
				return { status: "success" };
			},
		});
	});

	test("a hook's function has the signature of its name", () => {
		defineHook({
			hook: "after_system_message",
			id: "a",
			execute: (_state, text) => {
				expectTypeOf(text).toEqualTypeOf<string>();
				return null;
			},
		});
		// @ts-expect-error no hook has that name
		defineHook({ hook: "whenever", id: "a", execute: () => null });
	});

	test("an effect's function gets the type of its schema", () => {
		defineEffect("x", z.object({ a: z.string() }), (_state, { a }) =>
			expectTypeOf(a).toEqualTypeOf<string>(),
		);
		defineEffect("x", (state) => expectTypeOf(state).toEqualTypeOf<ThreadState>());
	});
});
