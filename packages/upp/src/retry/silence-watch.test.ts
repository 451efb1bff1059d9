import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AnswerWatch } from "./answer-watch.ts";
import { type Silent, unwatch, watch } from "./silence-watch.ts";

const fake = { toFake: ["setTimeout", "clearTimeout", "performance"] } as const;

/** Records when it is checked. */
function silent(then: (self: Silent) => void = () => {}): Silent & { readonly looks: number[] } {
	const looks: number[] = [];
	return {
		place: -1,
		looks,
		look(now) {
			looks.push(now);
			then(this);
		},
	};
}

beforeEach(() => void vi.useFakeTimers({ toFake: [...fake.toFake] }));
afterEach(() => void vi.useRealTimers());

describe("the timer of all silences", () => {
	test("is shared, checks each second, and ends once nothing is watched", () => {
		const all = [silent(), silent(), silent()];
		for (const each of all) watch(each);
		expect(vi.getTimerCount()).toBe(1);
		vi.advanceTimersByTime(3000);
		for (const { looks } of all) expect(looks).toHaveLength(3);
		for (const each of all) unwatch(each);
		vi.advanceTimersByTime(1000);
		expect(vi.getTimerCount()).toBe(0);
		const late = silent();
		watch(late);
		vi.advanceTimersByTime(1000);
		expect(late.looks).toHaveLength(1);
		unwatch(late);
	});

	test("checks all remaining entries, regardless of removals and additions in the meantime", () => {
		const added = silent();
		const all: ReturnType<typeof silent>[] = [];
		for (let index = 0; index < 6; index++)
			all.push(
				silent((self) => {
					if (index === 5) unwatch(all[0] as Silent);
					if (index === 3) watch(added);
					if (index % 2 === 1) unwatch(self);
				}),
			);
		for (const each of all) watch(each);
		vi.advanceTimersByTime(1000);
		for (const { looks } of all.slice(1)) expect(looks.length).toBeGreaterThan(0);
		expect(all.map(({ place }) => place < 0)).toEqual([true, true, false, true, false, true]);
		vi.advanceTimersByTime(1000);
		expect(added.looks.length).toBeGreaterThan(0);
		const before = all.map(({ looks }) => looks.length);
		for (const each of [added, ...all]) unwatch(each);
		vi.advanceTimersByTime(5000);
		expect(all.map(({ looks }) => looks.length)).toEqual(before);
	});

	test("is created again if the platform's timers were replaced", () => {
		const each = silent();
		watch(each);
		vi.useRealTimers();
		vi.useFakeTimers({ toFake: [...fake.toFake] });
		const other = silent();
		watch(other);
		vi.advanceTimersByTime(1000);
		expect([each.looks.length, other.looks.length]).toEqual([1, 1]);
		unwatch(each);
		unwatch(other);
	});
});

describe("a long silence", () => {
	test.each([600_000, 60_000])(
		"of %s ms ends the answer on time, or at most one or two seconds late",
		(silenceMs) => {
			const leave = vi.fn();
			new AnswerWatch({ silenceMs }, "p", { leave });
			vi.advanceTimersByTime(silenceMs - 1);
			expect(leave).not.toHaveBeenCalled();
			vi.advanceTimersByTime(2001);
			expect(leave).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "TIMEOUT" }));
			vi.advanceTimersByTime(10 * silenceMs);
			expect(leave).toHaveBeenCalledOnce();
			expect(vi.getTimerCount()).toBe(0);
		},
	);

	test("restarts with each piece of content, and with nothing else", () => {
		const leave = vi.fn();
		const watched = new AnswerWatch(undefined, "p", { leave });
		for (let time = 0; time < 5; time++) {
			vi.advanceTimersByTime(500_000);
			watched.heard(1, true);
		}
		vi.advanceTimersByTime(300_000);
		watched.heard(0, false);
		vi.advanceTimersByTime(299_999);
		expect(leave).not.toHaveBeenCalled();
		vi.advanceTimersByTime(2001);
		expect(leave).toHaveBeenCalledOnce();
	});

	test("of a complete answer ends nothing", () => {
		const leave = vi.fn();
		const watched = new AnswerWatch(undefined, "p", { leave });
		watched.close();
		watched.close();
		vi.advanceTimersByTime(1_000_000);
		expect(leave).not.toHaveBeenCalled();
		expect(vi.getTimerCount()).toBe(0);
	});
});
