// A message that comes while a run is under way: it waits for it, enters it, or is refused.
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { memoryHost } from "holdfast";
import { afterEach, expect, test } from "vitest";
import { type Served, type ServedOptions, say, serveScript } from "./served.fixture.ts";
import { sessionService } from "./service/index.ts";
import { refusal } from "./setup.fixture.ts";
import { readSse, until } from "./sse.fixture.ts";

const open: Served[] = [];
afterEach(async () => {
	for (const served of open.splice(0)) await served.close();
});

/** A session whose first run is held until `go`. */
async function held(
	rest: readonly (string | { readonly text: string; readonly gate?: Promise<void> })[],
	options: ServedOptions = {},
) {
	const gate = Promise.withResolvers<void>();
	const served = serveScript([{ text: "First.", gate: gate.promise }, ...rest], options);
	open.push(served);
	const first = await served.begin({ sessionId: "s", input: say("one"), context: {} });
	await until("the model is asked", () => served.model.requests.length === 1);
	return { ...served, first, go: gate.resolve };
}

const texts = async ({ session }: Served): Promise<readonly unknown[]> =>
	(await session("s")).messages.map(({ role, content }) =>
		role === "user" ? content : (content as { text: string }[]).map(({ text }) => text).join(""),
	);

const inbox = async ({ host }: Served): Promise<number> => (await host.journal.list())[0]?.waiting ?? 0;

test("messages wait for the run, in order, and each is streamed from its own start", async () => {
	const later = Promise.withResolvers<void>();
	const served = await held([{ text: "Second.", gate: later.promise }, "Third."], {
		maxConcurrentRuns: 3,
		serving: { clientsMaySet: ["options"] },
	});
	const { first, go, begin, post } = served;
	const second = await begin({ sessionId: "s", input: say("two") });
	const third = await begin({ sessionId: "s", input: say("three"), options: { temperature: 0.5 } });
	expect(await inbox(served)).toBe(2);
	// What waits counts as under way.
	expect(await refusal(await post("/api/agent/execute", { sessionId: "s", input: say("four") }))).toEqual([
		429,
		"rate_limited",
	]);
	go();
	const streams = [await first.rest()];
	await until("the second is under way", () => served.model.requests.length === 2);
	const active = async (): Promise<string | undefined> =>
		/^holdfast_active_runs (\d)$/m.exec(await (await served.get("/metrics")).text())?.[1];
	await until("the first is not counted any more", async () => (await active()) === "2");
	later.resolve();
	streams.push(await second.rest(), await third.rest());
	await until("no run is counted", async () => (await active()) === "0");
	for (const events of streams) {
		expect(events[0]?.event.type).toBe("session_start");
		expect(events.filter(({ event }) => event.type === "execute_complete")).toEqual([events.at(-1)]);
	}
	expect(streams.flat()).toEqual(await readSse(await served.get("/api/agent/session/s/events")).rest());
	expect(await texts(served)).toEqual(["one", "First.", "two", "Second.", "three", "Third."]);
	// Options are the session's, from the next turn on.
	expect(served.model.requests.map(({ params }) => params?.temperature)).toEqual([undefined, 0.5, 0.5]);
});

test("a waiting message is accepted once under its key, and a repeat gets its events", async () => {
	const served = await held(["Second.", "Never."]);
	const body = { sessionId: "s", input: say("two") };
	const key = { "idempotency-key": "k" };
	const one = await served.begin(body, key);
	const other = await served.begin(body, key);
	expect(await inbox(served)).toBe(1);
	served.go();
	const events = await one.rest();
	expect(await other.rest()).toEqual(events);
	expect(await served.run(body, key)).toEqual(events);
	expect(events[0]?.event.type).toBe("session_start");
	expect(await texts(served)).toEqual(["one", "First.", "two", "Second."]);
});

test("a waiting caller can leave, and the message still runs", async () => {
	const served = await held(["Second."]);
	const second = await served.begin({ sessionId: "s", input: say("two") });
	await second.close();
	served.go();
	await until("it is executed", async () => (await texts(served)).length === 4);
	expect(await texts(served)).toEqual(["one", "First.", "two", "Second."]);
});

test("a waiting message is removed with its session, and its stream ends", async () => {
	const served = await held([]);
	const second = await served.begin({ sessionId: "s", input: say("two") });
	const deleted = await served.handler.fetch(
		new Request("http://localhost/api/agent/session/s", { method: "DELETE" }),
	);
	expect(deleted.status).toBe(200);
	expect(await second.rest()).toEqual([]);
});

test("stopping ends the active run, and the waiting message is next", async () => {
	const served = await held(["Second."]);
	const second = await served.begin({ sessionId: "s", input: say("two") });
	expect(await (await served.post("/api/agent/session/s/stop")).json()).toMatchObject({ stopped: true });
	expect((await second.rest()).at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
	expect((await served.first.rest()).at(-1)?.event).toMatchObject({ status: "aborted" });
});

test("a waiting message survives its server, and the same request at the next one finds it", async () => {
	const host = memoryHost();
	const gate = new Promise<never>(() => {});
	const served = serveScript([{ text: "First.", gate }, "First again.", "Second."], {});
	const { model } = served;
	const [one, other] = [0, 1].map(() => sessionService({ host, agent: { model }, recoverEveryMs: 5 }));
	if (one === undefined || other === undefined) throw new Error("There are two.");
	await one.submit("t", "s", { input: "one", context: {} });
	await until("the model is asked", () => model.requests.length === 1);
	const request = { input: "two" };
	const waiting = await one.submit("t", "s", request, { idempotencyKey: "k" });
	expect(waiting.begun).toBeTypeOf("function");
	await one.close();
	expect(await waiting.begun?.(new AbortController().signal)).toBeUndefined();
	const again = await other.submit("t", "s", request, { idempotencyKey: "k" });
	expect([again.attached, again.runId]).toEqual([true, waiting.runId]);
	await other.supervise();
	const after = await again.begun?.(new AbortController().signal);
	const events: string[] = [];
	for await (const batch of other.follow("t", "s", { after, until: "complete" }))
		for (const { event } of batch)
			events.push(event.type === "message_end" ? event.message.role : event.type);
	expect(events[0]).toBe("session_start");
	expect(events).toContain("assistant");
	expect((await other.get("t", "s"))?.messages.at(-1)).toMatchObject({ content: [{ text: "Second." }] });
	await other.close();
	await served.close();
	await host.close();
});

test("if so configured, a message steers the run, and is streamed from there", async () => {
	const served = await held(["Both."], { serving: { whileRunning: "steer" } });
	const key = { "idempotency-key": "k" };
	const second = await served.begin({ sessionId: "s", input: say("two") }, key);
	const repeat = await served.begin({ sessionId: "s", input: say("two") }, key);
	served.go();
	const events = await second.rest();
	expect(events[0]?.event).toEqual({ type: "message_start", role: "user" });
	expect(events.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
	expect(await repeat.rest()).toEqual(events);
	expect(await served.run({ sessionId: "s", input: say("two") }, key)).toEqual(events);
	const whole = await served.first.rest();
	expect(whole.slice(-events.length)).toEqual(events);
	expect(whole.filter(({ event }) => event.type === "session_start")).toHaveLength(1);
	expect(await texts(served)).toEqual(["one", "First.", "two", "Both."]);
});

test("if so configured, a message is rejected", async () => {
	const served = await held([], { serving: { whileRunning: "refuse" } });
	const response = await served.post("/api/agent/execute", { sessionId: "s", input: say("two") });
	expect(await refusal(response)).toEqual([409, "session_busy"]);
	served.go();
	await served.first.rest();
	expect(() => serveScript([], { serving: { whileRunning: "later" as never } })).toThrow(/whileRunning/);
});

test("answers to calls do not wait: no run awaits them", async () => {
	const served = await held([]);
	const input = [{ role: "tool", toolCallId: "x", output: "1" }];
	const response = await served.post("/api/agent/execute", { sessionId: "s", input });
	expect((await refusal(response))[0]).toBe(409);
	served.go();
	await served.first.rest();
});

test.each(["queue", "steer"] as const)(
	"a page's second message waits for the current answer: %s",
	async (whileRunning) => {
		const gate = Promise.withResolvers<void>();
		const served = serveScript([{ text: "First.", gate: gate.promise }, "Second."], {
			serving: { whileRunning },
		});
		open.push(served);
		const pages = [0, 1].map(
			() =>
				new Chat<UIMessage>({
					id: "c",
					transport: new DefaultChatTransport({
						api: "http://localhost/api/chat",
						fetch: (input, options) => served.handler.fetch(new Request(input as string, options)),
					}),
				}),
		);
		const [one, other] = pages as [Chat<UIMessage>, Chat<UIMessage>];
		const first = one.sendMessage({ text: "one" });
		await until("the model is asked", () => served.model.requests.length === 1);
		const second = other.sendMessage({ text: "two" });
		await until("it waits", async () => (await inbox(served)) === 1);
		gate.resolve();
		await Promise.all([first, second]);
		const said = ({ messages }: Chat<UIMessage>) =>
			messages.map(({ parts }) =>
				parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join(""),
			);
		expect([one.error, other.error]).toEqual([undefined, undefined]);
		expect(said(one)).toEqual(["one", "First."]);
		expect(said(other)).toEqual(["two", "Second."]);
	},
);
