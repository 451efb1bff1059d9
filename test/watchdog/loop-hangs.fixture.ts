import { test } from "vitest";

function turn(): never {
	for (;;);
}

test("turns without an end", turn);
