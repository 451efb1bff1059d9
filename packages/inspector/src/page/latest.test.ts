import { expect, test } from "vitest";
import { latestReads } from "./latest.ts";

function setUp() {
	const reads = latestReads();
	const reported: string[] = [];
	const signals: AbortSignal[] = [];
	const start = (key: string): PromiseWithResolvers<string> => {
		const response = Promise.withResolvers<string>();
		reads.start(
			key,
			(signal) => {
				signals.push(signal);
				return response.promise;
			},
			(value) => reported.push(value),
			(error) => reported.push(`failed: ${error.message}`),
		);
		return response;
	};
	const settled = () => new Promise((resolve) => setImmediate(resolve));
	return { reads, reported, signals, start, settled };
}

test("a response that arrives after a newer one is dropped, and so is its failure", async () => {
	const { reported, signals, start, settled } = setUp();
	const [first, second] = [start("a"), start("a")];
	second.resolve("newer");
	await settled();
	first.resolve("older");
	await settled();
	expect(reported).toEqual(["newer"]);
	expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
	const third = start("a");
	const fourth = start("a");
	third.reject(new Error("late"));
	fourth.reject(new Error("broken"));
	await settled();
	expect(reported).toEqual(["newer", "failed: broken"]);
});

test("reads with different keys do not end each other, and none reports after the end", async () => {
	const { reads, reported, start, settled } = setUp();
	const [one, other, late] = [start("a"), start("b"), start("c")];
	other.resolve("b");
	one.resolve("a");
	await settled();
	reads.end();
	late.resolve("c");
	await settled();
	expect(reported).toEqual(["b", "a"]);
});

test("a read of an older key of the server is not a failure", async () => {
	const { reported, start, settled } = setUp();
	start("a").reject(new DOMException("The key has changed.", "AbortError"));
	await settled();
	expect(reported).toEqual([]);
});
