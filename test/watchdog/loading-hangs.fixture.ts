import { test } from "vitest";

await new Promise(() => {});

test("is never reached", () => {});
