import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { platformTimers } from "./timers.ts";

const day = 24 * 60 * 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("timers wait for 60 days instead of firing at once, and can be cancelled", () => {
	const wake = vi.fn();
	platformTimers.setTimeout(wake, 60 * day);
	const handle = platformTimers.setTimeout(wake, 60 * day);
	vi.advanceTimersByTime(60 * day - 1);
	platformTimers.clearTimeout(handle);
	platformTimers.clearTimeout(undefined);
	expect(wake).not.toHaveBeenCalled();
	vi.advanceTimersByTime(1);
	expect(wake).toHaveBeenCalledTimes(1);
});
