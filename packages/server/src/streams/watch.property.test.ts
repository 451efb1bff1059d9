// Whatever the batches, the pace of the readers and the moment they come, each gets every event after its id once
// and in order, from the service, from the feed, or from both.
import fc from "fast-check";
import { expect, test } from "vitest";
import { propertyRuns } from "../../../../test/shared/property-runs.fixture.ts";
import { deltas, fakeService } from "../service.fixture.ts";
import { hello, setUp } from "../setup.fixture.ts";
import { readSse, type SseReader, until } from "../sse.fixture.ts";

type Act =
	| { readonly do: "say"; readonly count: number; readonly length: number }
	| { readonly do: "join"; readonly back: number; readonly follows: boolean }
	| { readonly do: "read"; readonly who: number; readonly count: number }
	| { readonly do: "leave"; readonly who: number }
	| { readonly do: "all read" }
	| { readonly do: "next run" }
	| { readonly do: "wait" };

const act: fc.Arbitrary<Act> = fc.oneof(
	fc.record({
		do: fc.constant("say" as const),
		count: fc.integer({ min: 1, max: 90 }),
		length: fc.constantFrom(5, 900),
	}),
	fc.record({ do: fc.constant("join" as const), back: fc.nat({ max: 1000 }), follows: fc.boolean() }),
	fc.record({ do: fc.constant("read" as const), who: fc.nat(), count: fc.integer({ min: 1, max: 60 }) }),
	fc.record({ do: fc.constant("leave" as const), who: fc.nat() }),
	fc.constant({ do: "all read" as const }),
	fc.constant({ do: "next run" as const }),
	fc.constant({ do: "wait" as const }),
);

interface Watching {
	readonly reader: SseReader;
	/** The id it began after, as a number: ids of the fake count from 1. */
	readonly after: number;
	readonly seen: number[];
}

/** A feed that all others have left, and that has moved on, before a watcher that found it there begins to read. */
const lateReaders: Act[] = [
	{ do: "say", count: 48, length: 5 },
	{ do: "join", back: 231, follows: false },
	{ do: "say", count: 25, length: 900 },
	{ do: "next run" },
	{ do: "join", back: 390, follows: false },
	{ do: "join", back: 783, follows: true },
	{ do: "wait" },
	{ do: "say", count: 65, length: 5 },
	{ do: "leave", who: 409_121_768 },
	{ do: "say", count: 16, length: 900 },
	{ do: "join", back: 156, follows: true },
];

test("each watcher gets each event once, in order [API-074]", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(act, { minLength: 5, maxLength: 60 }),
			fc.constantFrom(7, 64),
			async (acts, batch) => {
				const service = fakeService({ holds: true, batch });
				const { post, get, metric, handler } = setUp(service, { maxBufferedBytes: 100 * 1024 * 1024 });
				const body = { ...hello, sessionId: "s" };
				const first = readSse(await post("/api/agent/execute", body));
				const watching: Watching[] = [{ reader: first, after: 0, seen: [] }];
				const session = service.session("default", "s");
				/** What is there for a watcher, so that its reading does not wait. */
				const left = ({ after, seen }: Watching): number => session.log.length - after - seen.length;
				const read = async ({ reader, seen }: Watching, count: number): Promise<void> => {
					for (let at = 0; at < count; at++) {
						const next = await reader.next();
						if (next === undefined) return;
						seen.push(Number(next.id.split(".")[0]));
					}
				};
				for (const each of acts) {
					const who = "who" in each ? watching[each.who % watching.length] : undefined;
					if (each.do === "say") service.emit("default", "s", deltas(each.count, "x".repeat(each.length)));
					else if (each.do === "wait") await new Promise((resolve) => setTimeout(resolve, 1));
					else if (each.do === "next run") {
						service.complete("default", "s");
						await (await post("/api/agent/execute", { ...body, context: undefined })).body?.cancel();
					} else if (each.do === "join") {
						const after = Math.max(0, session.log.length - each.back);
						const query = `follow=${each.follows ? 1 : 0}${after === 0 ? "" : `&after=${after}.0.0`}`;
						const response = await get(`/api/agent/session/s/events?${query}`);
						watching.push({ reader: readSse(response), after, seen: [] });
					} else if (who !== undefined && each.do === "read") {
						// No more than is there, so that reading does not wait.
						const left = session.log.length - who.after - who.seen.length;
						await read(who, Math.min(each.count, left));
					} else if (who !== undefined && watching.length > 1) {
						await who.reader.close();
						watching.splice(watching.indexOf(who), 1);
					}
				}
				for (const each of watching) {
					const { after, seen, reader } = each;
					await read(each, left(each));
					expect(seen).toEqual(Array.from({ length: seen.length }, (_, at) => after + at + 1));
					// One that does not follow ends after an execution; every other one has come to the end.
					const last = session.log[after + seen.length - 1]?.event.type;
					if (after + seen.length < session.log.length) expect(last).toBe("execute_complete");
					await reader.close().catch(() => {});
				}
				service.complete("default", "s");
				await until("the run is over", async () => (await metric("holdfast_active_runs")) === 0);
				await until("nobody follows", () => service.followers.open === 0);
				expect(await metric("holdfast_open_streams")).toBe(0);
				expect(await metric("holdfast_buffered_bytes")).toBe(0);
				await handler.close();
			},
		),
		{ numRuns: propertyRuns(150), timeout: 30_000, examples: [[lateReaders, 64]] },
	);
});
