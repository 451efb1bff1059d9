// A store of sessions that share a model.
import { scriptedModel } from "@holdfast/testing";
import { expect, expectTypeOf, test } from "vitest";
import { memoryHost } from "../host/index.ts";
import { createSession, execute } from "./create-session.ts";
import { SessionStore } from "./session-store.ts";

test("a function bound to a store creates sessions with the store's model", async () => {
	const { create: createSession } = new SessionStore({ model: scriptedModel(() => "Hello.") });
	for (const id of ["a", "b"]) {
		const session = createSession(id, { messages: [], tools: [] });
		const { status } = await execute(session, { role: "user", content: "Hello" }).result();
		expect([session.id, status, session.messages.length]).toEqual([id, "completed", 2]);
	}
});

test("a store finds its sessions and their messages, releases them, and has one per id", async () => {
	const sessions = new SessionStore({ model: scriptedModel(() => "Hello.") });
	expect([sessions.get("s"), sessions.getContext("s"), sessions.delete("s")]).toEqual([
		undefined,
		undefined,
		false,
	]);
	const session = sessions.create("s", {});
	await execute(session, "hi").result();
	expect(sessions.get("s")).toBe(session);
	expect(sessions.getContext("s")?.map(({ role }) => role)).toEqual(["user", "assistant"]);
	expect(() => sessions.create("s", {})).toThrow(expect.objectContaining({ code: "session_exists" }));
	expect([sessions.delete("s"), sessions.get("s")]).toEqual([true, undefined]);
	const again = sessions.create("s", {});
	await again.ready;
	expect(again.messages).toHaveLength(2);
});

test("a session accepts a model by its name in the store or as a value, and is rejected otherwise", async () => {
	const quick = scriptedModel(["Quick."], { modelId: "quick" });
	const own = scriptedModel(["Own."], { modelId: "own" });
	const sessions = new SessionStore({ models: { "gpt-4o-mini": quick } });
	await execute(sessions.create("a", {}, { model: "gpt-4o-mini" }), "hi").result();
	await execute(sessions.create("b", {}, { model: own }), "hi").result();
	expect([quick.requests.length, own.requests.length]).toEqual([1, 1]);
	for (const model of ["other", "toString"])
		expect(() => sessions.create("c", {}, { model })).toThrow(
			expect.objectContaining({ code: "unknown_model" }),
		);
	expect(() => sessions.create("c", {}, { host: memoryHost() } as never)).toThrow(
		expect.objectContaining({ code: "invalid_option" }),
	);
	expect(sessions.get("c")).toBeUndefined();
});

test("the tools and the output of a session determine its types, as with createSession", () => {
	const sessions = new SessionStore({ model: scriptedModel([]) });
	const context = { tools: [{ name: "locate", parameters: { type: "object" } }] } as const;
	expectTypeOf(sessions.create("s", context)).toEqualTypeOf(createSession("s", context));
});

test("an execution accepts images as bytes, base64 text and URLs, and shows them as text", async () => {
	const model = scriptedModel(["Seen."]);
	const session = createSession("s", {}, { model });
	const bytes = new Uint8Array([104, 105]);
	const url = new URL("https://example.com/a.png");
	const { status } = await execute(session, {
		role: "user",
		content: [
			{ type: "image", image: bytes, mediaType: "image/png" },
			{ type: "image", image: "aGk=", mediaType: "image/png" },
			{ type: "image", image: url, mediaType: "image/png" },
			{ type: "file", data: bytes, mediaType: "text/plain" },
		],
	}).result();
	expect(status).toBe("completed");
	expect(session.messages[0]).toMatchObject({
		content: [
			{ type: "image", image: "aGk=" },
			{ type: "image", image: "aGk=" },
			{ type: "image", image: url.href },
			{ type: "file", data: "aGk=" },
		],
	});
});
