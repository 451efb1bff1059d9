import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { createSession, execute } from "./create-session.ts";

const history = [
	{ role: "user", content: "Hi" },
	{ role: "error", error: "It broke.", code: "x", timestamp: 1 },
	{ role: "user", content: "Again" },
] as const;

test("a session that starts with a history keeps it unchanged, and shows it to the model [API-036]", async () => {
	const model = scriptedModel(["Hello"]);
	const given = [...history];
	const session = createSession("s", { messages: given }, { model });
	expect(session.messages).toEqual(history);
	await execute(session, "And now?").result();
	expect(session.messages.slice(0, 3)).toEqual(history);
	expect(session.messages).toHaveLength(5);
	expect(given).toEqual(history);
	expect(model.requests[0]?.messages.map((message) => (message as { text?: string }).text)).toEqual([
		"Hi",
		"Again",
		"And now?",
	]);
});
