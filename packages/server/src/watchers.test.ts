// Several who watch one session at once, each from a place of its own, over the real service.
import { afterEach, expect, test } from "vitest";
import { type Served, say, serveScript } from "./served.fixture.ts";
import { refusal } from "./setup.fixture.ts";
import { type Received, readSse, type SseReader } from "./sse.fixture.ts";

const open: Served[] = [];
afterEach(async () => {
	for (const served of open.splice(0)) await served.close();
});

function serve(script: Parameters<typeof serveScript>[0]): Served {
	const served = serveScript(script);
	open.push(served);
	return served;
}

const path = "/api/agent/session/s/events";
const body = (text: string): object => ({ sessionId: "s", input: say(text), context: {} });

/** A session whose second run is in the middle of its answer, and what continues it. */
async function live(): Promise<{
	readonly served: Served;
	readonly first: readonly Received[];
	readonly running: SseReader;
	readonly go: () => void;
	readonly watch: (query?: string) => Promise<SseReader>;
}> {
	const gate = Promise.withResolvers<void>();
	const served = serve([
		"One.",
		{ text: "two three four", beforeDelta: (at) => (at === 1 ? gate.promise : undefined) },
	]);
	const first = await served.run(body("one"));
	const running = await served.begin(body("two"));
	const watch = async (query = ""): Promise<SseReader> => readSse(await served.get(`${path}${query}`));
	return { served, first, running, go: gate.resolve, watch };
}

/** Reads up to an event of a type. */
async function upTo(reader: SseReader, type: string): Promise<readonly Received[]> {
	const events: Received[] = [];
	for (;;) {
		const next = await reader.next();
		if (next === undefined) throw new Error(`The stream ended without ${type}.`);
		events.push(next);
		if (next.event.type === type) return events;
	}
}

test("on an idle session, a stream without follow ends at once, even if another follows [API-067]", async () => {
	const served = serve(["One.", "Two."]);
	const first = await served.run(body("one"));
	const last = first.at(-1)?.id as string;
	const follower = readSse(await served.get(`${path}?after=${last}&follow=1`));
	// Nothing was read for the follower yet, and then a whole run.
	expect(await readSse(await served.get(`${path}?after=${last}`)).rest()).toEqual([]);
	const second = await served.run(body("two"));
	expect(await upTo(follower, "execute_complete")).toEqual(second);
	const end = second.at(-1)?.id as string;
	expect(await readSse(await served.get(`${path}?after=${end}`)).rest()).toEqual([]);
	expect(await readSse(await served.get(`${path}?after=${last}`)).rest()).toEqual(second);
	await follower.close();
});

test("during a run, a stream without follow ends with it, even if another follows [API-067]", async () => {
	const { first, running, go, watch } = await live();
	const last = first.at(-1)?.id as string;
	const follower = await watch(`?after=${last}&follow=1`);
	const begun = await upTo(follower, "text_delta");
	const passing = await watch(`?after=${last}`);
	expect(await upTo(passing, "text_delta")).toEqual(begun);
	go();
	const rest = await passing.rest();
	expect(rest.at(-1)?.event.type).toBe("execute_complete");
	expect(await running.rest()).toEqual([...begun, ...rest]);
	await follower.close();
});

test("leaving disconnects no one else", async () => {
	const { first, running, go, watch } = await live();
	const query = `?after=${first.at(-1)?.id}`;
	const watchers = [
		running,
		...(await Promise.all([watch(query), watch(`${query}&follow=1`), watch(query)])),
	];
	const begun = await Promise.all(watchers.map((watcher) => upTo(watcher, "text_delta")));
	const [leaving, ...staying] = watchers.reverse() as [SseReader, ...SseReader[]];
	await leaving.close();
	await (await watch(`${query}&follow=1`)).close();
	go();
	const ends = await Promise.all(staying.map((watcher) => upTo(watcher, "execute_complete")));
	for (const end of ends) expect(end).toEqual(ends[0]);
	expect(ends[0]?.[0]?.event.type).toBe("text_delta");
	for (const each of begun) expect(each).toEqual(begun[0]);
});

test("a future id is rejected, even while others watch a live run [API-077]", async () => {
	const { first, running, go, watch, served } = await live();
	const follower = await watch(`?after=${first.at(-1)?.id}&follow=1`);
	const { id } = (await upTo(follower, "text_delta")).at(-1) as Received;
	const seq = Number(id.split(".")[0]);
	for (const future of [`${seq + 1}.0.0`, "9999.0.0"])
		for (const query of [`?after=${future}`, `?after=${future}&follow=1`])
			expect(await refusal(await served.get(`${path}${query}`))).toEqual([400, "invalid_event_id"]);
	go();
	await running.rest();
	await follower.close();
});

test("a header that is not an event id is rejected, whatever the address contains [API-077]", async () => {
	const { first, running, go, served } = await live();
	for (const header of ["x", "1", "1.2", "1.2.3.4.5", "-1.0.0", "1.0.0; 2.0.0", "0x1.0.0"])
		for (const query of ["", `?after=${first[0]?.id}`, "?follow=1"]) {
			const response = await served.get(`${path}${query}`, { "last-event-id": header });
			expect([header, query, ...(await refusal(response))]).toEqual([header, query, 400, "invalid_event_id"]);
		}
	go();
	await running.rest();
});
