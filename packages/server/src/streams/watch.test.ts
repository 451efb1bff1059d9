// What a watcher does where the feed of its session does not fit: another session has had the id before, or has it now.
import type { LoggedEvent } from "holdfast/execute";
import { expect, test } from "vitest";
import type { SessionService } from "../service/index.ts";
import { fakeService } from "../service.fixture.ts";
import { FeedTable } from "./feed-table.ts";
import { type WatchOptions, watchFrom } from "./watch.ts";

const caller = { tenant: "t" };
const log: readonly LoggedEvent[] = [{ id: "1.0.0", event: { type: "session_start", sessionId: "s" } }];

/** A service whose session has one event, which says that it is the second one under its id; and how often it was asked. */
function asked(incarnation = "second") {
	const counts = { follows: 0 };
	const service: SessionService = {
		...fakeService(),
		async *follow(_owner, _sessionId, { after, signal, reads } = {}) {
			counts.follows++;
			reads?.(incarnation);
			if (after === undefined) yield log;
			yield [];
			await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
		},
	};
	const feeds = new FeedTable({ service, maxBufferedBytes: 1024, failed: () => {} });
	const options: WatchOptions = {
		caller,
		sessionId: "s",
		after: undefined,
		until: "never",
		sent: () => {},
		failed: () => {},
	};
	return { service, feeds, options, counts };
}

/** Takes all there is whenever the source says that there is something. */
async function watching({ service, feeds, options }: ReturnType<typeof asked>) {
	let events = 0;
	let hasEnded = false;
	const start = await watchFrom({ service, feeds }, { ...options, sent: (count) => (events += count) });
	const take = (): void => {
		for (let piece = source.take(); piece !== "none"; piece = source.take())
			if (piece === "end") {
				hasEnded = true;
				return;
			}
	};
	const source = start(
		() => take(),
		() => {},
	);
	take();
	return {
		get events() {
			return events;
		},
		get hasEnded() {
			return hasEnded;
		},
		close: () => source.close(),
	};
}

const microtasks = async (): Promise<void> => {
	for (let turn = 0; turn < 500; turn++) await Promise.resolve();
};

test("a watcher that has less than the start of its session's feed reads once, and waits", async () => {
	const parts = asked();
	// Of a session that was deleted: it begins after an event that the new one does not have yet.
	const stale = parts.feeds.open(caller, "s", "9.0.0");
	stale.whenComplete("9.0.0", () => {});
	const watcher = await watching(parts);
	await microtasks();
	expect(watcher.events).toBe(1);
	expect(watcher.hasEnded).toBe(false);
	expect(parts.counts.follows).toBe(1); // its own; the feed has not begun to read
	watcher.close();
	parts.feeds.close();
});

test("a watcher does not join a feed of another session that had its id", async () => {
	const parts = asked();
	const former = asked("first");
	const feeds = new FeedTable({ service: former.service, maxBufferedBytes: 1024, failed: () => {} });
	const stale = feeds.open(caller, "s", undefined);
	stale.whenComplete("0.0.0", () => {});
	stale.hurry();
	await microtasks();
	expect(stale.incarnation).toBe("first");
	const watcher = await watching({ ...parts, feeds });
	await microtasks();
	stale.close();
	await microtasks();
	// The stale feed ended with its session; the new session continues.
	expect(watcher.hasEnded).toBe(false);
	expect(watcher.events).toBe(1);
	watcher.close();
});

test("a watcher that arrives after a session was recreated gets another feed", () => {
	const { feeds } = asked();
	const before = feeds.open(caller, "s", "3.0.0");
	feeds.renew(caller, "s");
	const after = feeds.open(caller, "s", "0.0.0");
	expect(after).not.toBe(before);
	before.close();
	expect(feeds.find(caller, "s")).toBe(after);
	feeds.close();
	expect(after.isOpen).toBe(false);
});
