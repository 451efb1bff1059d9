// What is found of that which a file of tests leaves behind.
import { createServer } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { findLeftovers, lookAround } from "./find-leftovers.ts";

test("nothing is reported without leftovers", async () => {
	expect(await findLeftovers(lookAround())).toEqual([]);
});

test("a replaced global, a spied method, a variable and a listener are found by name", async () => {
	const before = lookAround();
	vi.stubGlobal("fetch", () => {});
	const spy = vi.spyOn(console, "warn");
	vi.stubEnv("HOLDFAST_LEFT", "1");
	const note = (): void => {};
	process.on("unhandledRejection", note);
	onTestFinished(() => {
		vi.unstubAllGlobals();
		spy.mockRestore();
		vi.unstubAllEnvs();
		process.off("unhandledRejection", note);
	});
	expect(await findLeftovers(before)).toEqual([
		"a replaced fetch",
		"a replaced console.warn",
		"another value of HOLDFAST_LEFT in the environment",
		"a listener of unhandledRejection",
	]);
});

test("a server that stays open is found, and one that is closing is not", async () => {
	const before = lookAround();
	const server = createServer();
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	expect(await findLeftovers(before)).toEqual(["an open server"]);
	server.close();
	expect(await findLeftovers(before)).toEqual([]);
});

test("work that repeats endlessly is found, and work that ends is not", async () => {
	let turns = 0;
	let isEnding = false;
	const turn = (): void => void (isEnding || setImmediate(turn));
	turn();
	expect(await findLeftovers(lookAround())).toEqual(["work that never lets the event loop rest"]);
	isEnding = true;
	const some = (): void => void (turns++ < 20 && setImmediate(some));
	some();
	expect(await findLeftovers(lookAround())).toEqual([]);
});
