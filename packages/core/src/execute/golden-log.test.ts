import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decodeFact } from "../facts/codec.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { followLog, type LoggedEvent } from "./session-log.ts";

interface Golden {
	/** Entries and chunks as stored, in order. */
	readonly stored: readonly (
		| {
				readonly at: number;
				readonly runId: string;
				readonly kind: string;
				readonly version: number;
				readonly body: string;
		  }
		| { readonly sub: number; readonly event: unknown }
	)[];
	readonly events: readonly LoggedEvent[];
}

const golden = JSON.parse(
	readFileSync(new URL("./golden-log-1.fixture.json", import.meta.url), "utf8"),
) as Golden;

test("a stored log gives the same events under the same ids as when it was written", async () => {
	const journal = memoryJournal();
	const acquired = journal.acquire("s") as Awaited<ReturnType<typeof journal.acquire>>;
	if (!acquired.ok) throw new Error("a new session is free");
	let run = { at: 0, runId: "" };
	for (const each of golden.stored) {
		if ("kind" in each) {
			run = { at: each.at, runId: each.runId };
			const fact = decodeFact(each.kind, each.version, each.body);
			await acquired.lease.append({ ...run, facts: [fact] });
		} else await acquired.lease.append({ ...run, facts: [], chunks: [each] });
	}
	const events: LoggedEvent[] = [];
	for await (const batch of followLog(journal, "s", "s")) events.push(...batch);
	// Errors have had a reason since a later release.
	const withReason = golden.events.map(({ id, event }) => ({
		id,
		event: event.type === "error" ? { ...event, reason: "error" } : event,
	}));
	expect(events).toEqual(withReason);
	const kinds = new Set(events.map(({ event }) => event.type));
	expect(kinds.size).toBeGreaterThanOrEqual(17);
});
