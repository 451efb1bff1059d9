// When a feed reads: what has just begun is read once it is over, or has had its time.
import type { LoggedEvent } from "holdfast/execute";
import { expect, test } from "vitest";
import { Feed, steadyPace } from "./feed.ts";

const events: readonly LoggedEvent[] = [
	{ id: "1.0.0", event: { type: "session_start", sessionId: "s" } },
	{ id: "2.0.0", event: { type: "execute_complete", status: "completed" } },
];

test("a run that is over is read at once, and not before", async () => {
	let asked = 0;
	let reads = 0;
	async function* read(): AsyncGenerator<readonly LoggedEvent[]> {
		reads++;
		yield events;
	}
	const feed = new Feed({
		follow() {
			asked++;
			return read();
		},
		after: "0.0.0",
		maxBufferedBytes: 1024,
		pace: steadyPace(),
		ended: () => {},
		failed: () => {},
	});
	const settled = Promise.withResolvers<void>();
	feed.whenComplete("0.0.0", settled.resolve);
	// Without a timer: only promises pass here.
	for (let turn = 0; turn < 20; turn++) await Promise.resolve();
	// A service that closes from now on knows of it.
	expect([asked, reads]).toEqual([1, 0]);
	feed.readNow();
	for (let turn = 0; turn < 5; turn++) await Promise.resolve();
	expect(reads).toBe(1);
	await settled.promise;
});
