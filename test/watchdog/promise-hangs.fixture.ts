import { test } from "vitest";

test("waits without an end", () => new Promise(() => {}));
