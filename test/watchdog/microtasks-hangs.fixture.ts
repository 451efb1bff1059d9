import { test } from "vitest";

test("comes before", () => {});

test("awaits without an end", async () => {
	for (;;) await undefined;
});

test("comes after", () => {});
