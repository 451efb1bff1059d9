// Another past of a chat, with the real `Chat` of the AI SDK: answers that are made anew, and messages that are edited.
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { tool } from "holdfast";
import { describe, expect, test } from "vitest";
import { type Served, serveScript } from "../served.fixture.ts";
import { refusal } from "../setup.fixture.ts";
import { readSse, until } from "../sse.fixture.ts";

const transportOf = ({ handler }: Served): DefaultChatTransport<UIMessage> =>
	new DefaultChatTransport({
		api: "http://localhost/api/chat",
		fetch: (input, options) => handler.fetch(new Request(input as string, options)),
	});

/** What is said, by whom. */
const said = (messages: readonly UIMessage[]): readonly string[] =>
	messages.map(({ role, parts }) => {
		const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
		return `${role}: ${texts.join(" ")}`;
	});

/** What the model was shown the last time, without the ids, which may hold any word. */
const shown = ({ model }: Served): string =>
	JSON.stringify(model.requests.at(-1)?.messages, (name, value) => (name === "id" ? undefined : value));

/** The chat as a page that is opened now sees it. */
async function loaded({ get }: Served): Promise<readonly UIMessage[]> {
	return (await (await get("/api/chat/c")).json()).messages;
}

describe("a page", () => {
	const chatOf = (served: Served, messages: readonly UIMessage[] = []): Chat<UIMessage> =>
		new Chat({ id: "c", transport: transportOf(served), messages: [...messages] });

	test("an answer is regenerated, and the model does not see the previous one", async () => {
		const served = serveScript(["One.", "Two.", "Zwei.", "Three."]);
		const chat = chatOf(served);
		await chat.sendMessage({ text: "Count." });
		await chat.sendMessage({ text: "More." });
		const ids = chat.messages.map(({ id }) => id);
		await chat.regenerate();
		expect(chat.error).toBeUndefined();
		expect(said(chat.messages)).toEqual([
			"user: Count.",
			"assistant: One.",
			"user: More.",
			"assistant: Zwei.",
		]);
		expect(chat.messages.map(({ id }) => id)).toEqual(ids);
		expect(shown(served)).not.toContain("Two.");
		// Whoever opens the chat sees the same, under the same ids.
		expect(said(await loaded(served))).toEqual(said(chat.messages));
		expect((await loaded(served)).map(({ id }) => id)).toEqual(ids);
		await chat.sendMessage({ text: "Even more." });
		expect(said(chat.messages).slice(-2)).toEqual(["user: Even more.", "assistant: Three."]);
		expect(shown(served)).toContain("Zwei.");
		await served.close();
	});

	test("an earlier answer is regenerated, and everything after it is removed", async () => {
		const served = serveScript(["One.", "Two.", "Eins.", "Deux."]);
		const chat = chatOf(served);
		await chat.sendMessage({ text: "Count." });
		await chat.sendMessage({ text: "More." });
		await chat.regenerate({ messageId: chat.messages[1]?.id as string });
		expect(said(chat.messages)).toEqual(["user: Count.", "assistant: Eins."]);
		expect(said(await loaded(served))).toEqual(said(chat.messages));
		// By a page that was opened since, and names the message of the user.
		const other = chatOf(served, await loaded(served));
		await other.regenerate({ messageId: other.messages[0]?.id as string });
		expect(said(other.messages)).toEqual(["user: Count.", "assistant: Deux."]);
		expect(said(await loaded(served))).toEqual(said(other.messages));
		await served.close();
	});

	test("a message is edited, and everything after it is removed", async () => {
		const served = serveScript(["One.", "Two.", "Drei.", "Quatre."]);
		const chat = chatOf(served);
		await chat.sendMessage({ text: "Count." });
		await chat.sendMessage({ text: "More." });
		await chat.sendMessage({ text: "In German.", messageId: chat.messages[2]?.id as string });
		expect(said(chat.messages)).toEqual([
			"user: Count.",
			"assistant: One.",
			"user: In German.",
			"assistant: Drei.",
		]);
		expect(shown(served)).not.toMatch(/More|Two/);
		await chat.sendMessage({ text: "In French.", messageId: chat.messages[0]?.id as string });
		expect(said(chat.messages)).toEqual(["user: In French.", "assistant: Quatre."]);
		expect(said(await loaded(served))).toEqual(said(chat.messages));
		expect(shown(served)).not.toMatch(/Count|German/);
		await served.close();
	});

	test("a message that did not arrive is sent by regenerating its answer", async () => {
		const served = serveScript(["One.", "Two."]);
		const chat = chatOf(served);
		await chat.sendMessage({ text: "Count." });
		chat.messages = [
			...chat.messages,
			{ id: "lost", role: "user", parts: [{ type: "text", text: "More." }] },
		];
		await chat.regenerate();
		expect(said(chat.messages)).toEqual([
			"user: Count.",
			"assistant: One.",
			"user: More.",
			"assistant: Two.",
		]);
		expect((await loaded(served)).map(({ id }) => id)).toEqual(chat.messages.map(({ id }) => id));
		await served.close();
	});

	test("while an answer is generated it cannot be regenerated, and the current one stays", async () => {
		const gate = Promise.withResolvers<void>();
		const served = serveScript(["One.", { text: "Two.", gate: gate.promise }]);
		const chat = chatOf(served);
		await chat.sendMessage({ text: "Count." });
		const page = chatOf(served, chat.messages);
		const sending = chat.sendMessage({ text: "More." });
		await until("it is asked", () => served.model.requests.length === 2);
		await page.regenerate();
		expect(page.error?.message).toMatch(/under way|session_busy/);
		gate.resolve();
		await sending;
		expect(said(await loaded(served))).toEqual(said(chat.messages));
		await served.close();
	});
});

test("the effects of tools stay recorded, and the ids of events keep their meaning", async () => {
	const keys: string[] = [];
	const pay = tool({
		name: "pay",
		description: "Pays.",
		parameters: { type: "object" },
		run: (_, { idempotencyKey = "" }) => {
			keys.push(idempotencyKey);
			return "paid";
		},
	});
	const served = serveScript(
		[{ toolCalls: [{ name: "pay" }] }, "Paid.", { toolCalls: [{ name: "pay" }] }, "Again."],
		{
			tools: [pay],
		},
	);
	const chat = new Chat<UIMessage>({ id: "c", transport: transportOf(served) });
	await chat.sendMessage({ text: "Pay." });
	const events = async (query = "") =>
		readSse(await served.get(`/api/agent/session/c/events${query}`)).rest();
	const before = await events();
	const follower = readSse(
		await served.get(`/api/agent/session/c/events?after=${before.at(-1)?.id}&follow=1`),
	);
	await chat.regenerate();
	const all = await events();
	expect(all.slice(0, before.length)).toEqual(before);
	const added = all.slice(before.length);
	const [asked] = chat.messages;
	expect(added.slice(0, 3).map(({ event }) => event)).toEqual([
		{ type: "session_start", sessionId: "c" },
		{ type: "history_cut", messageId: asked?.id },
		{ type: "message_start", role: "user" },
	]);
	// Who follows, and who comes back with an id from before, hears of the cut.
	for (const event of added) expect(await follower.next()).toEqual(event);
	await follower.close();
	expect(await events(`?after=${before[2]?.id}`)).toEqual(all.slice(3));
	expect(new Set(keys).size).toBe(2);
	const { messages } = await served.session("c");
	expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
	await served.close();
});

test("a history that came with the context is unchanged", async () => {
	const served = serveScript(["One.", "Two."], { serving: { clientsMaySet: ["history"] } });
	const transport = transportOf(served);
	const chat = new Chat<UIMessage>({ id: "c", transport });
	const context = { messages: [{ role: "user", content: "Before." }] };
	await chat.sendMessage({ text: "Count." }, { body: { context } });
	const page = new Chat<UIMessage>({ id: "c", transport, messages: [...(await loaded(served))] });
	expect(said(page.messages)).toEqual(["user: Before.", "user: Count.", "assistant: One."]);
	await page.regenerate({ messageId: page.messages[0]?.id as string });
	expect(page.error?.message).toContain("Reload the chat");
	expect(said(await loaded(served))).toEqual(["user: Before.", "user: Count.", "assistant: One."]);
	await served.close();
});

test("a page's id that the session already has is not used twice", async () => {
	const served = serveScript(["One.", "Two."]);
	const message = (text: string) => ({ id: "m", role: "user", parts: [{ type: "text", text }] });
	for (const text of ["Count.", "More."])
		await (await served.post("/api/chat", { id: "c", messages: [message(text)] })).text();
	const ids = (await loaded(served)).map(({ id }) => id);
	expect(new Set(ids).size).toBe(4);
	expect(ids[0]).toBe("m");
	await served.close();
});

test("the same regeneration under its key is one, also when it arrives again later", async () => {
	const served = serveScript(["One.", "Two."]);
	const message = { id: "m", role: "user", parts: [{ type: "text", text: "Count." }] };
	await (await served.post("/api/chat", { id: "c", messages: [message] })).text();
	const again = { id: "c", messages: [message], trigger: "regenerate-message" };
	const first = await (await served.post("/api/chat", again, { "idempotency-key": "k" })).text();
	expect(await (await served.post("/api/chat", again, { "idempotency-key": "k" })).text()).toBe(first);
	expect(served.model.requests).toHaveLength(2);
	// The same words as a new message are another request.
	const anew = { id: "c", messages: [{ ...message, id: "n" }] };
	expect(await refusal(await served.post("/api/chat", anew, { "idempotency-key": "k" }))).toEqual([
		409,
		"idempotency_key_reused",
	]);
	expect(
		await refusal(
			await served.post("/api/chat", {
				...again,
				messageId: "none.answer",
				messages: [{ ...message, id: "x" }],
			}),
		),
	).toEqual([409, "unknown_message"]);
	await served.close();
});
