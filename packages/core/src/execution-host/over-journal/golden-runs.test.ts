import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { AgentEvent } from "../../facts/agent-event.ts";
import { decodeFact } from "../../facts/codec.ts";
import { runEventsOf } from "./run-events-of.ts";

/** A run as stored by the release before boundaries were recorded, and the events that release read from it. */
interface GoldenRun {
	readonly name: string;
	readonly runId: string;
	readonly entries: readonly {
		readonly seq: number;
		readonly at: number;
		readonly kind: string;
		readonly version: number;
		readonly body: string;
	}[];
	readonly events: readonly AgentEvent[];
}

const golden = JSON.parse(
	readFileSync(new URL("./golden-runs-1.fixture.json", import.meta.url), "utf8"),
) as readonly GoldenRun[];

test.each(golden)(
	"a run that was stored without its boundaries emits the same events: $name",
	({ runId, entries, events }) => {
		const read = entries.map(({ seq, at, kind, version, body }) => ({
			seq,
			at,
			runId,
			fact: decodeFact(kind, version, body),
		}));
		expect(JSON.parse(JSON.stringify(runEventsOf(read)))).toEqual(events);
	},
);
