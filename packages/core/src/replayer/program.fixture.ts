// Random programs that call primitives under all control flow that JavaScript has for promises.
import fc from "fast-check";
import type { Branch } from "./branch.ts";

/** A program as data. Its result depends on the outcome of every call and on the order in which they came. */
export type Program =
	| { readonly kind: "call"; readonly name: string }
	| { readonly kind: "in order"; readonly programs: readonly Program[] }
	| {
			readonly kind: "all" | "race" | "any" | "allSettled";
			readonly programs: readonly Program[];
	  }
	| { readonly kind: "pipelines"; readonly programs: readonly Program[]; readonly second: Program }
	| { readonly kind: "branches"; readonly programs: readonly Program[] }
	| { readonly kind: "try"; readonly program: Program; readonly otherwise: Program }
	| { readonly kind: "loop"; readonly times: number; readonly program: Program }
	| { readonly kind: "until even"; readonly program: Program }
	| { readonly kind: "not awaited"; readonly program: Program }
	| { readonly kind: "later"; readonly microtasks: number; readonly program: Program };

const names = fc.constantFrom("a", "b", "c", "d/e#1", "50%");

export const programs: fc.Arbitrary<Program> = fc.letrec<{ program: Program }>((tie) => {
	const several = (maxLength: number): fc.Arbitrary<readonly Program[]> =>
		fc.array(tie("program"), { minLength: 1, maxLength });
	return {
		program: fc.oneof(
			{ maxDepth: 5, depthSize: "medium" },
			fc.record({ kind: fc.constant("call" as const), name: names }),
			fc.record({ kind: fc.constant("in order" as const), programs: several(4) }),
			fc.record({
				kind: fc.constantFrom("all" as const, "race" as const, "any" as const, "allSettled" as const),
				programs: several(4),
			}),
			fc.record({ kind: fc.constant("pipelines" as const), programs: several(3), second: tie("program") }),
			fc.record({ kind: fc.constant("branches" as const), programs: several(3) }),
			fc.record({ kind: fc.constant("try" as const), program: tie("program"), otherwise: tie("program") }),
			fc.record({
				kind: fc.constant("loop" as const),
				times: fc.integer({ min: 1, max: 3 }),
				program: tie("program"),
			}),
			fc.record({ kind: fc.constant("until even" as const), program: tie("program") }),
			fc.record({ kind: fc.constant("not awaited" as const), program: tie("program") }),
			fc.record({
				kind: fc.constant("later" as const),
				microtasks: fc.integer({ min: 1, max: 5 }),
				program: tie("program"),
			}),
		),
	};
}).program;

/** Runs the program. Appends what it receives, in the order in which it receives it, to `seen`. */
export async function runProgram(
	program: Program,
	branch: Branch<undefined>,
	seen: unknown[],
): Promise<unknown> {
	const run = (each: Program): Promise<unknown> => runProgram(each, branch, seen);
	switch (program.kind) {
		case "call": {
			const value = await branch.call(program.name, "step", undefined);
			seen.push(value);
			return value;
		}
		case "in order": {
			const values: unknown[] = [];
			for (const each of program.programs) values.push(await run(each));
			return values;
		}
		case "all":
			return Promise.all(program.programs.map(run));
		case "race":
			return Promise.race(program.programs.map(run));
		case "any":
			return Promise.any(program.programs.map(run));
		case "allSettled":
			return (await Promise.allSettled(program.programs.map(run))).map((each) =>
				each.status === "fulfilled" ? each.value : String(each.reason),
			);
		case "pipelines":
			return Promise.all(program.programs.map(async (each) => [await run(each), await run(program.second)]));
		case "branches":
			return Promise.all(
				program.programs.map((each, at) => runProgram(each, branch.branch(`b${at % 2}`), seen)),
			);
		case "try":
			try {
				return await run(program.program);
			} catch (error) {
				seen.push(String(error));
				return run(program.otherwise);
			}
		case "loop": {
			let value: unknown;
			for (let turn = 0; turn < program.times; turn++) value = await run(program.program);
			return value;
		}
		case "until even": {
			for (let turn = 0; turn < 3; turn++) {
				const value = await run(program.program);
				if (hashOf(JSON.stringify(value) ?? "") % 2 === 0) return value;
			}
			return "never";
		}
		case "not awaited":
			run(program.program).catch(() => {});
			return "started";
		case "later":
			for (let turn = 0; turn < program.microtasks; turn++) await undefined;
			return run(program.program);
	}
}

/** FNV-1a: the same number for the same text. */
export function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
	return hash;
}
