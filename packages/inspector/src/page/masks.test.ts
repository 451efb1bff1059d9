import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { hasMask, maskProblem, shellText } from "./masks.ts";

test("masks are found in texts and in values at any depth", () => {
	expect(hasMask({ deep: [{ key: "Bearer [REDACTED:key]" }] })).toBe(true);
	expect([hasMask("[REDACTED]"), hasMask({ a: 1 }), hasMask(undefined)]).toEqual([false, false, false]);
	expect(maskProblem("plain")).toBeUndefined();
	expect(maskProblem("[REDACTED:secret]")).toContain("masked secret");
});

test("a shell refuses a copied command until the masked secrets are set", () => {
	const command = `printf %s ${shellText("it's [REDACTED:key] and [REDACTED:secret]")}`;
	const run = (env: Record<string, string>): string =>
		execFileSync("/bin/sh", ["-c", command], { env, encoding: "utf8", stdio: "pipe" });
	expect(() => run({ SECRET_1: "one" })).toThrow("SECRET_2");
	expect(run({ SECRET_1: "one", SECRET_2: "two" })).toBe("it's one and two");
});
