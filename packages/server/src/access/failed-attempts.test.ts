import { expect, test } from "vitest";
import { AttemptLimiter } from "./failed-attempts.ts";

/** A limiter of three failures in 1,000 ms, a clock for it, and a door that knows one word. */
function make() {
	let now = 5_000;
	let looks = 0;
	const limiter = new AttemptLimiter({ attempts: 3, windowMs: 1_000 }, () => now);
	/** What becomes of an attempt: `in`, `out`, or how long it has to wait. */
	const attempt = async (address: string, word: string): Promise<string | number> => {
		const look = async (): Promise<string | undefined> => {
			looks++;
			return word === "sesame" ? "in" : undefined;
		};
		try {
			return (await limiter.attempt(address, `digest of ${word}`, look)) ?? "out";
		} catch (error) {
			const { code, data } = error as { code: string; data: { retryAfterMs: number } };
			expect(code).toBe("rate_limited");
			return data.retryAfterMs;
		}
	};
	return { limiter, attempt, looks: () => looks, pass: (milliseconds: number) => (now += milliseconds) };
}

test("after the last failure a peer is rejected without a check, until its window ends; others are not", async () => {
	const { attempt, looks, pass } = make();
	for (const word of ["a", "b"]) expect(await attempt("one", word)).toBe("out");
	pass(400);
	expect(await attempt("one", "c")).toBe("out");
	expect(await attempt("one", "d")).toBe(600);
	expect(await attempt("one", "sesame")).toBe(600);
	expect(looks()).toBe(3);
	expect(await attempt("two", "a")).toBe("out");
	pass(599);
	expect(await attempt("one", "d")).toBe(1);
	pass(1);
	expect(await attempt("one", "sesame")).toBe("in");
	expect(await attempt("one", "e")).toBe("out");
});

test("of any number of simultaneous attempts only as many as may fail are checked, and valid ones all are", async () => {
	const { attempt, looks } = make();
	const guesses = await Promise.all(Array.from({ length: 1_000 }, (_, at) => attempt("one", `guess ${at}`)));
	expect(guesses.filter((each) => each === "out")).toHaveLength(3);
	expect(guesses.filter((each) => each === 1_000)).toHaveLength(997);
	expect(looks()).toBe(3);
	const holders = await Promise.all(Array.from({ length: 1_000 }, () => attempt("two", "sesame")));
	expect(new Set(holders)).toEqual(new Set(["in"]));
	const words = Array.from({ length: 100 }, (_, at) => (at % 40 === 5 ? "wrong" : "sesame"));
	const mixed = await Promise.all(
		words.map((word, at) => attempt("three", word === "wrong" ? `wrong ${at}` : word)),
	);
	expect(mixed.filter((each) => each === "in")).toHaveLength(97);
});

test("a caller who was accepted before is accepted while guessers at the same address are rejected, until it fails itself", async () => {
	let valid = "sesame";
	const limiter = new AttemptLimiter({ attempts: 1, windowMs: 1_000 }, () => 0);
	const attempt = (word: string): Promise<string | undefined> =>
		limiter.attempt("one", word, () => (word === valid ? "in" : undefined));
	expect(await attempt("sesame")).toBe("in");
	expect(await attempt("guess")).toBeUndefined();
	await expect(attempt("another")).rejects.toMatchObject({ code: "rate_limited" });
	expect(await attempt("sesame")).toBe("in");
	valid = "changed";
	expect(await attempt("sesame")).toBeUndefined();
	await expect(attempt("sesame")).rejects.toMatchObject({ code: "rate_limited" });
});

test("credentials that cannot be distinguished do not bypass the limit", async () => {
	const { limiter, looks, attempt } = make();
	expect(await limiter.attempt("one", "", () => "in")).toBe("in");
	for (const word of ["a", "b", "c"]) expect(await attempt("one", word)).toBe("out");
	const guesses = Array.from({ length: 10 }, () => limiter.attempt("one", "", () => undefined));
	for (const guess of await Promise.allSettled(guesses)) expect(guess.status).toBe("rejected");
	expect(looks()).toBe(3);
});

test("a check that throws is not counted as a failure, and delays no one", async () => {
	const limiter = new AttemptLimiter({ attempts: 1, windowMs: 1_000 }, () => 0);
	const broken = Array.from({ length: 5 }, () =>
		limiter.attempt("one", "a", () => Promise.reject(new Error("no database"))),
	);
	const failures = await Promise.allSettled(broken);
	expect(failures.map((each) => each.status === "rejected" && each.reason.message)).toEqual(
		Array.from({ length: 5 }, () => "no database"),
	);
	expect(await limiter.attempt("one", "a", () => "in")).toBe("in");
	expect(limiter.size).toBe(1);
});

test("a flood of addresses and of keys uses bounded memory", async () => {
	const { limiter, attempt, pass } = make();
	for (let at = 0; at < 25_000; at++) {
		await attempt(`guesser ${at}`, "guess");
		await limiter.attempt(`holder ${at}`, "digest of sesame", () => "in");
	}
	expect(limiter.size).toBeGreaterThan(19_000);
	expect(limiter.size).toBeLessThanOrEqual(20_000);
	expect(await attempt("guesser 24999", "guess")).toBe("out");
	expect(await attempt("guesser 24999", "guess")).toBe("out");
	expect(await attempt("guesser 24999", "guess")).toBe(1_000);
	pass(1_000);
	for (let at = 0; at < 1_000; at++) await attempt("one", "guess");
	for (let at = 0; at < 1_000; at++) await limiter.attempt(`late ${at}`, "digest of sesame", () => "in");
	expect(limiter.size).toBe(10_001);
});

test("a peer with an attempt under way is not forgotten, and later attempts get an answer", async () => {
	const { limiter, attempt, pass } = make();
	const gate = Promise.withResolvers<undefined>();
	const slow = ["a", "b", "c"].map((word) => limiter.attempt("slow", word, () => gate.promise));
	const later = ["d", "e"].map((word) => attempt("slow", word));
	pass(1_000);
	for (let at = 0; at < 12_000; at++) await attempt(`flood ${at}`, "guess");
	gate.resolve(undefined);
	await Promise.all(slow);
	expect(await Promise.all(later)).not.toContain(undefined);
});
