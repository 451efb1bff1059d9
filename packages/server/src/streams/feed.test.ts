// When a feed reads: what has just begun is read once it is over, or has had its time.
import type { LoggedEvent } from "holdfast/execute";
import { expect, test, vi } from "vitest";
import { Feed, steadyPace } from "./feed.ts";

const events: readonly LoggedEvent[] = [
	{ id: "1.0.0", event: { type: "session_start", sessionId: "s" } },
	{ id: "2.0.0", event: { type: "execute_complete", status: "completed" } },
];

test("an ended run is read at once, and not before", async () => {
	const { feed, counts, settled } = feedOf(events);
	// Without a timer: only promises pass here.
	for (let turn = 0; turn < 20; turn++) await Promise.resolve();
	// A service that closes from now on knows of it.
	expect(counts).toEqual({ asked: 1, reads: 0 });
	feed.readNow();
	for (let turn = 0; turn < 5; turn++) await Promise.resolve();
	expect(counts.reads).toBe(1);
	await settled;
});

test("a longer run is read after 20 ms", async () => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
	try {
		const { counts, settled } = feedOf(events);
		await vi.advanceTimersByTimeAsync(19);
		expect(counts.reads).toBe(0);
		await vi.advanceTimersByTimeAsync(1);
		expect(counts.reads).toBe(1);
		await settled;
	} finally {
		vi.useRealTimers();
	}
});

/** A feed of these events that somebody waits for, and how often it asked for them and read them. */
function feedOf(given: readonly LoggedEvent[]) {
	const counts = { asked: 0, reads: 0 };
	async function* read(): AsyncGenerator<readonly LoggedEvent[]> {
		counts.reads++;
		yield given;
	}
	const feed = new Feed({
		follow() {
			counts.asked++;
			return read();
		},
		after: "0.0.0",
		maxBufferedBytes: 1024,
		pace: steadyPace(),
		ended: () => {},
		failed: () => {},
	});
	const settled = new Promise<void>((resolve) => feed.whenComplete("0.0.0", resolve));
	return { feed, counts, settled };
}
