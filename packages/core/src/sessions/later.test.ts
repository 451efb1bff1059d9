import { manualTime } from "@holdfast/testing";
import { HoldfastError } from "@holdfast/upp";
import { beforeEach, expect, test } from "vitest";
import { Later } from "./later.ts";
import { settled } from "./sessions.fixture.ts";

let time = manualTime();
let later = new Later(time.ports.timers);
let tries = 0;

beforeEach(() => {
	time = manualTime();
	later = new Later(time.ports.timers);
	tries = 0;
});

/** Work that fails with this error. */
const failing = (error: unknown) => (): Promise<void> => {
	tries++;
	return Promise.reject(error);
};

async function pass(milliseconds: number): Promise<void> {
	time.pass(milliseconds);
	await settled();
}

test("work is done once when it is due, and again a second later each time it fails", async () => {
	let left = 2;
	const work = (): Promise<void> => (left-- > 0 ? failing(new Error("no"))() : Promise.resolve());
	later.set("work", work, undefined, 5_000);
	await pass(4_999);
	expect([tries, later.has("work")]).toEqual([0, true]);
	await pass(1);
	expect([tries, later.has("work")]).toEqual([1, true]);
	await pass(999);
	expect(tries).toBe(1);
	await pass(1);
	expect([tries, left]).toEqual([2, 0]);
	await pass(1_000);
	expect([left, later.has("work"), time.timers.size]).toEqual([-1, false, 0]);
});

test("work scheduled for a purpose replaces earlier work for it, even if that fails in the meantime", async () => {
	const given: string[] = [];
	const fail = Promise.withResolvers<void>();
	later.set("one", async () => void given.push("before"));
	later.set("one", () => fail.promise);
	later.set("two", async () => void given.push("two"));
	expect(time.timers.size).toBe(2);
	await pass(1_000);
	later.set("one", async () => void given.push("one"));
	fail.reject(new Error("no"));
	await settled();
	expect(time.timers.size).toBe(1);
	await pass(1_000);
	expect([given, time.timers.size]).toEqual([["two", "one"], 0]);
});

test("work that is no longer wanted is not retried", async () => {
	let isWanted = true;
	later.set("work", failing(new Error("no")), () => isWanted);
	await pass(1_000);
	isWanted = false;
	await pass(1_000);
	expect([tries, time.timers.size]).toEqual([2, 0]);
});

test("work that fails because the journal is closed is not retried", async () => {
	later.set("work", failing(new HoldfastError("journal_closed", "It is closed.")));
	await pass(1_000);
	expect([tries, time.timers.size]).toEqual([1, 0]);
});

test("nothing waits once it is closed, and nothing new can wait", async () => {
	later.set("one", failing(new Error("no")));
	later.set("two", failing(new Error("no")));
	await pass(1_000);
	later.close();
	later.set("three", failing(new Error("no")));
	expect(time.timers.size).toBe(0);
	await pass(1_000);
	expect(tries).toBe(2);
});
