import { expect, test } from "vitest";
import { readPlan } from "./read-plan.ts";

test("a plan is searched for in linear time, for any answer of a model", () => {
	const read = (text: string): unknown => {
		const began = performance.now();
		try {
			readPlan(undefined, text, {} as never);
		} catch {}
		return performance.now() - began < 1_000;
	};
	for (const piece of [
		"\n",
		" \n",
		"```",
		"```\n",
		"```a",
		"{",
		"[",
		"[{",
		'{"a":',
		'"',
		"}",
		"]",
		"\\",
		"``` ",
	])
		for (const before of ["", "```", "```json"])
			expect([before, piece, read(before + piece.repeat(200_000 / piece.length))]).toEqual([
				before,
				piece,
				true,
			]);
});
