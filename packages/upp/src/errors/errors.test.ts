import { describe, expect, test } from "vitest";
import { HoldfastError, HoldfastTypeError, isHoldfastError } from "./holdfast-error.ts";
import { ErrorCode, isUPPError, UPPError } from "./upp-error.ts";

describe("a HoldfastError", () => {
	test("has a code, a message, a cause, data, and whether to retry", () => {
		const cause = new Error("below");
		const error = new HoldfastError("some_code", "What happened.", {
			cause,
			retryable: true,
			data: { n: 1 },
		});
		expect(error).toBeInstanceOf(Error);
		expect(error).toMatchObject({ code: "some_code", retryable: true, cause, data: { n: 1 } });
		expect(new HoldfastError("a", "b").retryable).toBe(false);
		expect("cause" in new HoldfastError("a", "b")).toBe(false);
	});

	test("is recognised if another copy of the package created it", async () => {
		const copyOfModule = "./holdfast-error.ts?another-copy";
		const copy = (await import(/* @vite-ignore */ copyOfModule)) as typeof import("./holdfast-error.ts");
		const foreign = new copy.HoldfastError("a", "b");
		expect(foreign).toBeInstanceOf(HoldfastError);
		expect(foreign).not.toBeInstanceOf(UPPError);
		expect(isHoldfastError(foreign)).toBe(true);
		expect([isHoldfastError(new Error("a")), isHoldfastError(null), isHoldfastError({ code: "a" })]).toEqual([
			false,
			false,
			false,
		]);
	});
});

describe("a HoldfastTypeError", () => {
	test("is a TypeError and a HoldfastError: it has a code, and must not be retried", () => {
		const cause = new Error("below");
		const error = new HoldfastTypeError("some_code", "Give text.", { cause, data: { n: 1 } });
		expect(error).toBeInstanceOf(TypeError);
		expect(error).toBeInstanceOf(HoldfastError);
		expect(error).not.toBeInstanceOf(UPPError);
		expect(isHoldfastError(error)).toBe(true);
		expect(error).toMatchObject({ code: "some_code", retryable: false, cause, data: { n: 1 } });
		expect(String(error)).toBe("TypeError: Give text.");
	});

	test("other values are not a HoldfastError", () => {
		for (const value of [new TypeError("a"), { code: "a" }, null, undefined, "a"])
			expect((value as unknown) instanceof HoldfastError).toBe(false);
	});
});

describe("a UPPError", () => {
	test("is a HoldfastError that names its provider, modality and status", () => {
		const error = new UPPError("Too many.", ErrorCode.RATE_LIMITED, "openai", "llm", 429, "cause");
		expect(isHoldfastError(error) && isUPPError(error)).toBe(true);
		expect(error).toMatchObject({
			name: "UPPError",
			code: "RATE_LIMITED",
			provider: "openai",
			modality: "llm",
			statusCode: 429,
			cause: "cause",
		});
		expect(isUPPError(new HoldfastError("RATE_LIMITED", "x"))).toBe(false);
	});

	test.each([
		["RATE_LIMITED", 429, true],
		["NETWORK_ERROR", undefined, true],
		["TIMEOUT", undefined, true],
		["PROVIDER_ERROR", 503, true],
		["PROVIDER_ERROR", undefined, false],
		["QUOTA_EXCEEDED", 429, false],
		["AUTHENTICATION_FAILED", 401, false],
		["CANCELLED", undefined, false],
	] as const)("of code %s with status %s can be retried: %s", (code, status, retryable) => {
		expect(new UPPError("x", code, "p", "llm", status).retryable).toBe(retryable);
	});
});
