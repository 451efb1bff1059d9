import { describe, expect, test } from "vitest";
import { after, attempt, guarded, isThenable } from "./index.ts";

const fault = new Error("fault");
const throws = (): never => {
	throw fault;
};

describe("after", () => {
	test("continues synchronously if the value is available", () => {
		expect(after(2, (value) => value + 1)).toBe(3);
		expect(() => after(2, throws, () => "caught")).toThrow(fault);
	});

	test("continues when the promise resolves, and passes a rejection to `failed`", async () => {
		expect(await after(Promise.resolve(2), (value) => value + 1)).toBe(3);
		expect(await after(Promise.reject(fault), throws, (error) => error)).toBe(fault);
		await expect(after(Promise.resolve(2), throws, () => "caught")).rejects.toBe(fault);
	});
});

describe("attempt", () => {
	test("passes the error of the call to `failed`, thrown or rejected", async () => {
		expect(attempt(throws, throws, (error) => error)).toBe(fault);
		expect(
			await attempt(
				() => Promise.reject(fault),
				throws,
				(error) => error,
			),
		).toBe(fault);
	});

	test("passes errors of the continuation to the caller", async () => {
		expect(() =>
			attempt(
				() => 1,
				throws,
				() => "caught",
			),
		).toThrow(fault);
		await expect(
			attempt(
				async () => 1,
				throws,
				() => "caught",
			),
		).rejects.toBe(fault);
	});
});

test("guarded returns the result of a call, or the result of `failed` for its error", async () => {
	const failed = (error: unknown): string => `caught ${(error as Error).message}`;
	expect(guarded(() => 1, failed)).toBe(1);
	expect(guarded(throws, failed)).toBe("caught fault");
	expect(await guarded(async () => 1, failed)).toBe(1);
	expect(await guarded(async () => throws(), failed)).toBe("caught fault");
	expect(() => guarded(throws, throws)).toThrow(fault);
});

// biome-ignore lint/suspicious/noThenProperty: thenables are what is tested.
const thenable = (then: unknown): object => Object.fromEntries([["then", then]]);

test.each([
	[Promise.resolve(), true],
	[thenable(() => {}), true],
	[thenable(1), false],
	[undefined, false],
	[null, false],
	["then", false],
])("%o is awaited: %s", (value: unknown, expected) => {
	expect(isThenable(value)).toBe(expected);
});
