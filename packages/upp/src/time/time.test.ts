import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { durationFault, readDuration } from "./duration.ts";
import { delay, startTimer, timeoutSignal } from "./timer.ts";

const day = 24 * 60 * 60_000;

describe("a duration option", () => {
	test("has its value, or the default if it is not given", () => {
		expect([readDuration("waitMs", 5, 7), readDuration("waitMs", undefined, 7)]).toEqual([5, 7]);
	});

	test("of the wrong type is rejected with its name and the accepted values", () => {
		for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "5" as never, null as never])
			expect(() => readDuration("waitMs", value, 7)).toThrow(
				expect.objectContaining({ code: "invalid_option", data: { option: "waitMs" } }),
			);
		expect(durationFault(-1, { least: 0, most: 9 })).toBe("a number of milliseconds from 0 up to 9");
		expect(durationFault(0, { most: Number.POSITIVE_INFINITY })).toBe(
			"a number of milliseconds above 0, or Infinity",
		);
	});
});

describe("a timer", () => {
	beforeEach(() => void vi.useFakeTimers());
	afterEach(() => void vi.useRealTimers());

	test.each([0, 1, 2 ** 31 - 1, 2 ** 31, 30 * day, 60 * day])(
		"of %d ms fires then, and not before",
		(wait) => {
			const wake = vi.fn();
			startTimer(wait, wake);
			startTimer(wait, wake, { process: "release" });
			vi.advanceTimersByTime(Math.max(0, wait - 1));
			expect(wake).toHaveBeenCalledTimes(wait === 0 ? 2 : 0);
			vi.advanceTimersByTime(1);
			expect(wake).toHaveBeenCalledTimes(2);
			expect(vi.getTimerCount()).toBe(0);
		},
	);

	test("without an end never fires, and a cancelled one leaves nothing behind", () => {
		startTimer(Number.POSITIVE_INFINITY, () => expect.fail("woken"));
		const callOff = startTimer(60 * day, () => expect.fail("woken"));
		vi.advanceTimersByTime(40 * day);
		callOff();
		vi.advanceTimersByTime(400 * day);
		expect(vi.getTimerCount()).toBe(0);
	});

	test("of a signal aborts it with a TimeoutError after 60 days", () => {
		const signal = timeoutSignal(60 * day);
		vi.advanceTimersByTime(60 * day - 1);
		expect(signal.aborted).toBe(false);
		vi.advanceTimersByTime(1);
		expect(signal.reason).toMatchObject({ name: "TimeoutError" });
	});

	test("of a delay is cancelled by its signal", async () => {
		const stopping = new AbortController();
		const waiting = delay(60 * day, stopping.signal);
		vi.advanceTimersByTime(30 * day);
		stopping.abort(new Error("stopped"));
		await expect(waiting).rejects.toThrow("stopped");
		await expect(delay(1, stopping.signal)).rejects.toThrow("stopped");
		expect(vi.getTimerCount()).toBe(0);
	});
});
