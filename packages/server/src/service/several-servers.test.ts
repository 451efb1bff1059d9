import { type ScriptedModel, scriptedModel } from "@holdfast/testing";
import type { Host } from "holdfast";
import { memoryHost } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { memoryJournal } from "holdfast/host";
import { expect, test } from "vitest";
import { everyField } from "../every-field.fixture.ts";
import type { ExecuteRequest, SessionInfo, SessionService } from "./service-types.ts";
import { sessionService } from "./session-service.ts";

const journal = memoryJournal();
const kept = memoryHost().values;

/** A server of its own over the same sessions; it waits where it looks for a session, a key, or the model of a request. */
function serve(
	workerId: string,
	waits: Readonly<Partial<Record<"key" | "model" | "session", () => Promise<unknown>>>> = {},
	model: ScriptedModel = scriptedModel(() => "done"),
	named: (name: string) => string | Promise<string> = (name) => `by ${name}`,
): SessionService {
	const values: Host["values"] = {
		deleteSession: (key) => kept.deleteSession(key),
		values(key, owner) {
			const own = kept.values(key, owner);
			const get = async (name: string): Promise<unknown> => {
				const found = await own.get(name);
				if (name.startsWith("request:")) await waits.key?.();
				if (name === "session" && found === undefined) await waits.session?.();
				return found;
			};
			return { ...own, get };
		},
	};
	const host: Host = { journal: journal.worker(workerId), values, close: async () => {} };
	const models = async (name: string): Promise<typeof model | undefined> => {
		if (name === "nobody's") return undefined;
		await waits.model?.();
		return scriptedModel(() => named(name));
	};
	return sessionService({ host, agent: { model }, models, clientsMaySet: everyField });
}

const answer = { role: "tool" as const, toolCallId: "call", output: "1" };

async function runsOf(sessionId: string): Promise<number> {
	const heads = await journal.list();
	const entries = await journal.read(heads.find(({ key }) => key.endsWith(sessionId))?.key ?? "");
	return entries.filter(({ fact }) => fact.kind === "run.started").length;
}

/** The text of an execution's last message. */
async function ask(server: SessionService, sessionId: string, request: ExecuteRequest): Promise<string> {
	const { after } = await server.submit("t", sessionId, request);
	await read(server.follow("t", sessionId, { after, until: "complete" }));
	const last = (await server.get("t", sessionId))?.messages.at(-1);
	return JSON.stringify(last);
}

async function read(events: AsyncIterable<readonly LoggedEvent[]>): Promise<void> {
	for await (const _ of events);
}

test.each(["key", "model"] as const)(
	"the same request that reaches two servers is one run, even if one has all of it while the other looks for its %s [API-082]",
	async (what) => {
		const sessionId = `twice-${what}`;
		const request = { input: "Pay the bill.", context: {}, options: { model: "other" } };
		const one = serve(`one-${what}`);
		await one.submit("t", sessionId, { input: "Hello.", context: {} });
		await read(one.follow("t", sessionId, { until: "complete" }));
		const first = Promise.withResolvers<object>();
		const other = serve(`other-${what}`, {
			async [what]() {
				first.resolve(await one.submit("t", sessionId, request, { idempotencyKey: "k" }));
				await read(one.follow("t", sessionId, { until: "idle" }));
			},
		});
		const second = await other.submit("t", sessionId, request, { idempotencyKey: "k" });
		expect(second).toEqual({ ...(await first.promise), attached: true, over: undefined });
		expect(await runsOf(sessionId)).toBe(2);
	},
);

test("the same request that another server has started, and works on, while this one reads it is one run [API-082]", async () => {
	const sessionId = "under-way";
	const request = { input: "Pay the bill.", context: {}, options: { model: "other" } };
	const over = Promise.withResolvers<string>();
	const one = serve(
		"one-under-way",
		{},
		scriptedModel(() => "done"),
		() => over.promise,
	);
	await one.submit("t", sessionId, { input: "Hello.", context: {} });
	await read(one.follow("t", sessionId, { until: "complete" }));
	const first = Promise.withResolvers<object>();
	const other = serve("other-under-way", {
		async model() {
			first.resolve(await one.submit("t", sessionId, request, { idempotencyKey: "k" }));
		},
	});
	const second = await other.submit("t", sessionId, request, { idempotencyKey: "k" });
	over.resolve("paid");
	expect(second).toEqual({ ...(await first.promise), attached: true, over: undefined });
	await read(one.follow("t", sessionId, { until: "idle" }));
	expect(await runsOf(sessionId)).toBe(2);
});

test("the key of a rejected message can be reused, that of an accepted one cannot", async () => {
	const server = serve("third");
	const keyed = { idempotencyKey: "k" };
	await server.submit("t", "s", { input: "First.", context: {} }, keyed);
	await read(server.follow("t", "s", { until: "complete" }));
	const otherwise = server.submit("t", "s", { input: "Other." }, keyed);
	await expect(otherwise).rejects.toMatchObject({ code: "idempotency_key_reused" });
	const unknown = { input: "More.", options: { model: "nobody's" } };
	const refused = server.submit("t", "s", unknown, { idempotencyKey: "l" });
	await expect(refused).rejects.toMatchObject({ code: "unknown_model" });
	const accepted = await server.submit("t", "s", { input: "More." }, { idempotencyKey: "l" });
	expect([accepted.attached, await runsOf("s")]).toEqual([false, 2]);
});

test("options set at one server apply at the others from then on [API-044]", async () => {
	const [one, other] = [serve("first-of-two"), serve("second-of-two")];
	expect(await ask(one, "options", { input: "Hi.", context: {} })).toContain("done");
	expect(await ask(other, "options", { input: "Hi." })).toContain("done");
	expect(await ask(one, "options", { input: "Hi.", options: { model: "big" } })).toContain("by big");
	expect(await ask(other, "options", { input: "Hi." })).toContain("by big");
	expect(await ask(other, "options", { input: "Hi.", options: { temperature: 0 } })).toContain("by big");
	expect(await ask(serve("third-of-three"), "options", { input: "Hi." })).toContain("by big");
});

test("options of a rejected request undo none that another server accepted in the meantime", async () => {
	const one = serve("taking");
	await ask(one, "undone", { input: "Hi.", context: {} });
	const other = serve("refusing", {
		// While the other makes its agent, the first is asked for another model and works on.
		model: () => ask(one, "undone", { input: "Hi.", options: { model: "big" } }),
	});
	const late = other.submit("t", "undone", { input: [answer], options: { model: "small" } });
	await expect(late).rejects.toMatchObject({ code: "no_pending_tool_calls" });
	expect(await ask(serve("later"), "undone", { input: "Hi." })).toContain("by big");
});

test("a session that another server creates and uses during a lookup exists for both", async () => {
	const one = serve("quick");
	const other = serve("slow", { session: () => ask(one, "made", { input: "Hi.", context: {} }) });
	const { created } = await other.submit("t", "made", { input: "Hello.", context: {} });
	await read(other.follow("t", "made"));
	expect([created, (await one.get("t", "made"))?.messages.length]).toEqual([false, 4]);
});

test("a session that one server removes is also removed at the others, with its work, and its id starts again", async () => {
	const one = serve("removing");
	const hangs = scriptedModel(() => ({ text: "never", gate: new Promise(() => {}) }));
	const other = serve("working", {}, hangs);
	await ask(one, "removed", { input: "Hi.", context: { systemPrompt: "old" } });
	const { after } = await other.submit("t", "removed", { input: "Work." });
	const followed = Promise.all([
		read(one.follow("t", "removed", { after, until: "complete" })),
		read(other.follow("t", "removed", { until: "never" })),
	]);
	await one.delete("t", "removed");
	await followed;
	for (const server of [one, other]) {
		expect(await server.get("t", "removed")).toBeUndefined();
		await expect(server.delete("t", "removed")).rejects.toMatchObject({ code: "session_not_found" });
		const without = server.submit("t", "removed", { input: "Hi." });
		await expect(without).rejects.toMatchObject({ code: "context_required" });
	}
	const again = await one.submit("t", "removed", { input: "Anew.", context: {} });
	expect(again.created).toBe(true);
	await read(other.follow("t", "removed"));
	expect((await other.get("t", "removed"))?.messages).toHaveLength(2);
});

test("a session that another server removes and recreates is shown without the previous one, however long it is", async () => {
	const [one, other] = [serve("showing"), serve("remaking")];
	const said = async (): Promise<readonly unknown[] | undefined> =>
		(await one.get("t", "anew"))?.messages.flatMap((each) => (each.role === "user" ? [each.content] : []));
	for (const input of ["One.", "Two."]) await ask(one, "anew", { input, context: { systemPrompt: "old" } });
	const before = await one.get("t", "anew");
	expect(await said()).toEqual(["One.", "Two."]);
	await other.delete("t", "anew");
	for (const input of ["Uno.", "Due.", "Tre."])
		await ask(other, "anew", { input, context: { messages: [] } });
	expect(await said()).toEqual(["Uno.", "Due.", "Tre."]);
	const now = await one.get("t", "anew");
	expect(now?.lastRun?.runId).not.toBe(before?.lastRun?.runId);
	expect(now).toEqual(await serve("comparing").get("t", "anew"));
	// It continues with what was said in it, and a message that only the other one had is not known.
	const edited = one.submit("t", "anew", { input: "Deux.", insteadOf: messageId(before) });
	await expect(edited).rejects.toMatchObject({ code: "unknown_message" });
	await ask(one, "anew", { input: "Quattro." });
	expect(await said()).toEqual(["Uno.", "Due.", "Tre.", "Quattro."]);
	const events: string[] = [];
	for await (const batch of one.follow("t", "anew"))
		for (const { event } of batch)
			if (event.type === "message_end" && event.message.role === "user")
				events.push(String(event.message.content));
	expect(events).toEqual(["Uno.", "Due.", "Tre.", "Quattro."]);
});

test("a message that replaces another is a different request than one that follows, and a repeat of it is the same", async () => {
	const server = serve("replacing");
	await ask(server, "replaced", { input: "Hi.", context: {} });
	const insteadOf = messageId(await server.get("t", "replaced"));
	const key = { idempotencyKey: "k" };
	const first = await server.submit("t", "replaced", { input: "Hi.", insteadOf }, key);
	await read(server.follow("t", "replaced"));
	await expect(server.submit("t", "replaced", { input: "Hi." }, key)).rejects.toMatchObject({
		code: "idempotency_key_reused",
	});
	const again = await server.submit("t", "replaced", { input: "Hi.", insteadOf }, key);
	expect(again).toEqual({ ...first, attached: true, over: undefined });
	expect((await server.get("t", "replaced"))?.messages).toHaveLength(2);
	const none = server.submit("t", "nowhere", { input: "Hi.", insteadOf, context: {} });
	await expect(none).rejects.toMatchObject({ code: "session_not_found" });
});

/** The id of the first message of the user. */
function messageId(session: SessionInfo | undefined): string {
	const first = session?.messages.find(({ role }) => role === "user");
	if (first?.role !== "user" || first.id === undefined) throw new Error("There is one.");
	return first.id;
}

test("work that starts at the moment its session is removed is removed with it", async () => {
	const one = serve("removing-late");
	await ask(one, "late", { input: "Hi.", context: {} });
	const other = serve("beginning", { key: () => one.delete("t", "late") });
	const begun = other.submit("t", "late", { input: "Hi." }, { idempotencyKey: "k" });
	await expect(begun).rejects.toMatchObject({ code: "session_not_found" });
	expect((await journal.list()).filter(({ key }) => key.endsWith("late"))).toEqual([]);
	expect((await other.submit("t", "late", { input: "Hi.", context: {} })).created).toBe(true);
});
