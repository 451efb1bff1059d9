import type { Message, UserContent } from "@holdfast/upp";
import { afterEach, describe, expect, test, vi } from "vitest";
import { lines } from "../agent/agent.fixture.ts";
import { runEventsOf } from "../execution-host/over-journal/run-events-of.ts";
import type { SendInput } from "../facts/input.ts";
import type { InputPart } from "../facts/input-part.ts";
import { drain } from "./drain.ts";
import { echo, eventsOf, play, settled, shown, upTo } from "./sessions.fixture.ts";

/** The contents of the user messages of a conversation. */
function contentsOf(messages: readonly Message[] = []): (readonly UserContent[])[] {
	const users = messages.filter(({ type }) => type === "user");
	return users.map((message) => (message as unknown as { content: readonly UserContent[] }).content);
}

async function sent(input: SendInput) {
	const { session, model } = play(echo);
	const [emitted, ...others] = await eventsOf(await session.send(input));
	expect(others.filter(({ type }) => type.startsWith("user-"))).toEqual([]);
	return { emitted, content: contentsOf(model.requests[0]?.messages) };
}

/** A list with these elements, a hole, and the first element again. */
function sparse(...given: readonly unknown[]): readonly unknown[] {
	const list: unknown[] = [...given];
	list[given.length + 1] = given[0];
	return list;
}

afterEach(() => void vi.unstubAllGlobals());

describe("an input", () => {
	test("is the same as a string and as `user-text` [SES-020]", async () => {
		const text = await sent("hi");
		const object = await sent({ type: "user-text", text: "hi" });
		expect(text.emitted).toEqual({ type: "user-text", text: "hi" });
		expect(text.content).toEqual([[{ type: "text", text: "hi" }]]);
		expect(object).toEqual(text);
	});

	test("of several strings is one event and one message, with a part for each [SES-021]", async () => {
		const texts = await sent(["a", "b", "c"]);
		expect(texts.emitted).toEqual({ type: "user-text", text: ["a", "b", "c"] });
		expect(texts.content).toEqual([
			[
				{ type: "text", text: "a" },
				{ type: "text", text: "b" },
				{ type: "text", text: "c" },
			],
		]);
		expect((await sent(["alone"])).emitted).toEqual({ type: "user-text", text: ["alone"] });
	});

	test("of parts reaches the model completely, and nothing is fetched [SES-022]", async () => {
		const fetched = vi.fn(() => Promise.reject(new Error("no network")));
		vi.stubGlobal("fetch", fetched);
		const { emitted, content } = await sent({
			type: "user-message",
			content: [
				{ type: "text", text: "look" },
				{ type: "image", image: "https://x.test/a.png", mediaType: "image/png" },
				{ type: "image", image: new Uint8Array([1, 2]), mediaType: "image/png" },
				{
					type: "file",
					data: new URL("https://x.test/a.pdf"),
					mediaType: "application/pdf",
					filename: "a.pdf",
				},
				{ type: "file", data: "AQI=", mediaType: "text/plain" },
			],
		});
		const parts = [
			{ type: "text", text: "look" },
			{ type: "image", source: { type: "url", url: "https://x.test/a.png" }, mimeType: "image/png" },
			{
				type: "image",
				source: { type: "bytes", data: new Uint8Array([1, 2]) },
				mimeType: "image/png",
			},
			{
				type: "document",
				source: { type: "url", url: "https://x.test/a.pdf" },
				mimeType: "application/pdf",
				title: "a.pdf",
			},
			{ type: "document", source: { type: "base64", data: "AQI=" }, mimeType: "text/plain" },
		];
		expect(content).toEqual([parts]);
		const given = [
			{ type: "text", text: "look" },
			{ type: "image", image: "https://x.test/a.png", mediaType: "image/png" },
			{ type: "image", image: "AQI=", mediaType: "image/png" },
			{ type: "file", data: "https://x.test/a.pdf", mediaType: "application/pdf", filename: "a.pdf" },
			{ type: "file", data: "AQI=", mediaType: "text/plain" },
		];
		expect(emitted).toEqual({ type: "user-message", content: given });
		expect(fetched).not.toHaveBeenCalled();
	});

	test.each<[string, unknown]>([
		["an empty list", []],
		["a number", 7],
		["nothing", undefined],
		["null", null],
		["an object without a type", { text: "hi" }],
		["an unknown type", { type: "shout", text: "hi" }],
		["text that is not a string", { type: "user-text", text: 7 }],
		["a message without content", { type: "user-message", content: [] }],
		[
			"a part of an unknown type",
			[
				{ type: "text", text: "a" },
				{ type: "sound", data: "AQ==" },
			],
		],
		["an image without one", { type: "user-message", content: [{ type: "image", mediaType: "image/png" }] }],
		["strings and numbers", ["a", 7]],
		["texts with a hole", sparse("a", "b")],
		["texts of a user with a hole", { type: "user-text", text: sparse("a", "b") }],
		["parts with a hole", sparse({ type: "text", text: "a" }, { type: "text", text: "b" })],
		["a message with a hole", { type: "user-message", content: sparse({ type: "text", text: "a" }) }],
		["a file of nothing", [{ type: "file", data: { type: "data" }, mediaType: "text/plain" }]],
		["a file of an unknown kind", [{ type: "file", data: { type: "what", what: "" }, mediaType: "a/b" }]],
		[
			"a file without a reference",
			[{ type: "file", data: { type: "reference", reference: {} }, mediaType: "a/b" }],
		],
	])(
		"that is %s is rejected by send, steer and overlay, before any of it is stored [SES-023]",
		async (_, input) => {
			const { session, agent, model, journal, happened } = play(echo);
			for (const refused of [
				() => agent.send(input as never),
				() => session.send(input as never),
				() => session.steer(input as never),
				() => session.overlay(input as never),
			]) {
				await expect(refused()).rejects.toThrow(TypeError);
			}
			expect([journal.list(), happened, model.requests]).toEqual([[], [], []]);
			const run = await session.send("right");
			const events = run.events();
			await upTo(events, "turn-start");
			const entries = (await journal.read("s")).length;
			await expect(session.steer(input as never)).rejects.toThrow(TypeError);
			await expect(session.overlay(input as never)).rejects.toThrow(TypeError);
			await settled();
			expect((await journal.head("s"))?.waiting).toBe(0);
			expect(await journal.read("s")).toHaveLength(entries);
			await upTo(events, "turn-end");
			expect(happened).not.toContain("runtime-input");
			expect(shown(model)).toEqual([["user: right"]]);
		},
	);

	test.each<[string, readonly InputPart[]]>([
		["an image of no named type", [{ type: "image", image: "AQI=" }]],
		["a file by its text", [{ type: "file", data: { type: "text", text: "a,b" }, mediaType: "text/csv" }]],
		["a file by its data", [{ type: "file", data: { type: "data", data: "AQI=" }, mediaType: "a/b" }]],
		[
			"a file by its URL",
			[{ type: "file", data: { type: "url", url: "https://x.test/a" }, mediaType: "a/b" }],
		],
		[
			"a file by its ids at providers",
			[
				{ type: "text", text: "this" },
				{
					type: "file",
					data: { type: "reference", reference: { acme: "f1" } },
					mediaType: "a/b",
					filename: "f",
				},
				{ type: "file", data: "AQI=", mediaType: "a/b" },
			],
		],
	])("of %s is in events as given, and is accepted from there", async (_, content) => {
		const { emitted } = await sent({ type: "user-message", content });
		expect(emitted).toEqual({ type: "user-message", content });
		const again = await sent(emitted as never);
		expect(again.emitted).toEqual(emitted);
		const { session, journal } = play(echo);
		await drain(await session.send({ type: "user-message", content }));
		// The event read from the journal is equal, too.
		expect(runEventsOf(await journal.read("s"))[0]).toEqual(emitted);
	});

	test("is copied: changing it later changes neither events nor history [SES-024]", async () => {
		const texts = ["a", "b"];
		const bytes = new Uint8Array([1, 2]);
		const text = { type: "text" as const, text: "look" };
		const message = {
			type: "user-message" as const,
			content: [text, { type: "image" as const, image: bytes }],
		};
		const { session, model } = play(echo);
		const runs = [await session.send(texts), await session.send(message)];
		texts[0] = "changed";
		texts.push("changed");
		text.text = "changed";
		bytes.fill(9);
		message.content.length = 0;
		const events = [await eventsOf(runs[0] as never), await eventsOf(runs[1] as never)];
		expect(events.map(([first]) => first)).toEqual([
			{ type: "user-text", text: ["a", "b"] },
			{
				type: "user-message",
				content: [
					{ type: "text", text: "look" },
					{ type: "image", image: "AQI=" },
				],
			},
		]);
		const [first, second] = contentsOf(model.requests[1]?.messages);
		expect(first).toEqual([
			{ type: "text", text: "a" },
			{ type: "text", text: "b" },
		]);
		expect(second).toMatchObject([{ text: "look" }, { source: { data: new Uint8Array([1, 2]) } }]);
		await drain(await session.send("more"));
		expect(lines((await session.state()).messages).join()).not.toContain("changed");
	});
});
